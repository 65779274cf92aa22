import HandoffProtocol
import Ledger
import Synchronization

/// A wall clock that can be set, beside a boot clock that only goes on.
final class WalkClocks: Sendable {
  private let elapsed = Atomic<Int64>(5_000)
  private let offset = Atomic<Int64>(1_800_000_000_000)

  var milliseconds: Int64 {
    elapsed.load(ordering: .acquiring) + offset.load(ordering: .acquiring)
  }
  var now: Timestamp { Timestamp(milliseconds: milliseconds) }
  var boot: BootClock { BootClock(boot: "walk") { self.elapsed.load(ordering: .acquiring) } }

  func pass(_ milliseconds: Int64) { elapsed.add(milliseconds, ordering: .acquiringAndReleasing) }
  func set(by milliseconds: Int64) { offset.add(milliseconds, ordering: .acquiringAndReleasing) }
}
