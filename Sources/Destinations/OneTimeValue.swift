import Synchronization

/// A value that is set once and that any number of tasks wait for.
final class OneTimeValue<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var lastID = 0
    var waiting: [Int: CheckedContinuation<Value, any Error>] = [:]
  }

  private let state = Mutex(State())

  /// What was set; nil before.
  var current: Value? { state.withLock { $0.value } }

  /// Sets the value; later calls do nothing.
  func set(_ value: Value) {
    let waiting = state.withLock { state in
      guard state.value == nil else { return [Int: CheckedContinuation<Value, any Error>]() }
      state.value = value
      defer { state.waiting = [:] }
      return state.waiting
    }
    for continuation in waiting.values { continuation.resume(returning: value) }
  }

  /// Waits for the value; throws only `CancellationError`.
  func get() async throws -> Value {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Value, any Error>? in
          if let value = state.value { return .success(value) }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiting[id] = continuation
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
      continuation?.resume(throwing: CancellationError())
    }
  }
}
