import Synchronization

/// Lets one at a time do something with a name of the archive: who looks for a free name must be the only
/// one who takes it.
final class RemoteTurns: Sendable {
  private let waiting = Mutex<[String: [CheckedContinuation<Void, Never>]]>([:])

  /// Does something while nobody else does anything with the name.
  func run<Value>(
    _ name: String,
    _ work: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    await enter(name)
    defer { leave(name) }
    return try await work()
  }

  private func enter(_ name: String) async {
    await withCheckedContinuation { continuation in
      let isFree = waiting.withLock { waiting in
        if waiting[name] == nil {
          waiting[name] = []
          return true
        }
        waiting[name]?.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  private func leave(_ name: String) {
    waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
      guard var others = waiting[name], !others.isEmpty else {
        waiting[name] = nil
        return nil
      }
      let next = others.removeFirst()
      waiting[name] = others
      return next
    }?.resume()
  }
}
