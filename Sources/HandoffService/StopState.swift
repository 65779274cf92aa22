import Synchronization

/// How far the service has come in stopping, seen by every stage.
///
/// Draining starts no new work and lets what runs end; the tasks' cancellation, later or by a second
/// signal, ends that too.
package final class StopState: Sendable {
  private let draining = Atomic(false)
  private let wakers = Mutex<[WakeSignal]>([])
  private let children = Mutex<[StopState]>([])

  package init() {}

  /// No new work is to start.
  package var isDraining: Bool { draining.load(ordering: .acquiring) }

  /// One for a part that may be stopped alone; it drains with this one at the latest.
  package func child() -> StopState {
    let child = StopState()
    children.withLock { $0.append(child) }
    if isDraining { child.drain() }
    return child
  }

  /// Forgets a child whose part has ended.
  package func release(_ child: StopState) {
    children.withLock { children in children.removeAll { $0 === child } }
  }

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
    for child in children.withLock({ $0 }) { child.drain() }
  }
}
