import Synchronization

/// Whether whoever asked over a control connection still waits for the answer.
package final class ControlPresence: Sendable {
  private struct State {
    var hasEnded = false
    var lastNumber = 0
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// The other side has hung up.
  func end() {
    let waiting = state.withLock { state in
      state.hasEnded = true
      defer { state.waiting = [:] }
      return state.waiting.values
    }
    for cancel in waiting { cancel() }
  }

  /// Does work that is of no use once nobody waits for it: then it is cancelled.
  ///
  /// - Throws: what the work throws; `CancellationError` where it heeds that.
  package func whileThere<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Task { try await work() }
    let number = state.withLock { state -> Int? in
      if state.hasEnded { return nil }
      state.lastNumber += 1
      state.waiting[state.lastNumber] = { task.cancel() }
      return state.lastNumber
    }
    if number == nil { task.cancel() }
    defer { if let number { _ = state.withLock { $0.waiting.removeValue(forKey: number) } } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
