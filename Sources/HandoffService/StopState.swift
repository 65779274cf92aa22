import Synchronization

/// How far the service has come in stopping, seen by every stage.
///
/// Draining starts no new work and lets what runs end; the tasks' cancellation, later or by a second
/// signal, ends that too.
package final class StopState: Sendable {
  private let draining = Atomic(false)
  private let wakers = Mutex<[WakeSignal]>([])

  package init() {}

  /// No new work is to start.
  package var isDraining: Bool { draining.load(ordering: .acquiring) }

  /// Registers a loop that must look when draining starts.
  package func wakeOnDrain(_ signal: WakeSignal) {
    wakers.withLock { wakers in
      if !wakers.contains(where: { $0 === signal }) { wakers.append(signal) }
    }
    if isDraining { signal.signal() }
  }

  /// Ends what ``wakeOnDrain(_:)`` began, for a loop that has ended.
  package func forget(_ signal: WakeSignal) {
    wakers.withLock { wakers in wakers.removeAll { $0 === signal } }
  }

  /// Starts draining; later calls do nothing.
  package func drain() {
    guard !draining.exchange(true, ordering: .acquiringAndReleasing) else { return }
    for waker in wakers.withLock({ $0 }) { waker.signal() }
  }
}
