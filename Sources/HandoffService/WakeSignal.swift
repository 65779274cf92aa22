import Synchronization

/// Says "look now" to one waiting loop; several signals before a look are one look.
///
/// It carries no data on purpose: what there is to do stands in the ledger, so a lost or doubled signal
/// costs a look and nothing else.
package final class WakeSignal: Sendable {
  private enum State {
    case idle
    case signalled
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Mutex(State.idle)

  package init() {}

  /// Wakes the waiting loop, or the next one to wait.
  package func signal() {
    let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if case .waiting(let continuation) = state {
        state = .idle
        return continuation
      }
      state = .signalled
      return nil
    }
    waiting?.resume()
  }

  /// Waits for a signal, the limit, or the task's cancellation, whichever comes first.
  package func wait(atMost limit: Duration? = nil) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.waitForSignal() }
      if let limit {
        group.addTask {
          do {
            try await Task.sleep(for: limit)
          } catch {
            // Cancelled, as the signal came first: that is how the sleep is meant to end.
          }
        }
      }
      await group.next()
      group.cancelAll()
    }
  }

  private func waitForSignal() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if case .signalled = state {
            state = .idle
            return true
          }
          if Task.isCancelled { return true }
          state = .waiting(continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard case .waiting(let continuation) = state else { return nil }
        state = .idle
        return continuation
      }
      waiting?.resume()
    }
  }
}
