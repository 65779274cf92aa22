import Glibc
import LinuxSystem
import Synchronization

/// How fast objects are read again, and whether at all; shared by who reads and who decides.
///
/// The reading blocks a thread of the pace's own, never a lane: an import never waits for a
/// verification.
package final class ReadPace: Sendable {
  /// Bytes a second that a background reading leaves itself while imports run.
  private static let yielded: Int64 = 4_000_000
  /// The longest wait in one piece, so that a stop is noticed soon.
  private static let slice: Duration = .milliseconds(100)

  let thread = BlockingThread("library.reread")
  let isBackground: Bool
  private let bytesPerSecond: Int64?
  private let onRead: @Sendable (Int) -> Void
  private let stopped = Atomic(false)
  private let free = Mutex(ContinuousClock.now)

  /// - Parameters:
  ///   - bytesPerSecond: at most; nil for as fast as the disk reads.
  ///   - isBackground: let everybody else go first: the disk's idle class, and slower while imports run.
  ///   - onRead: told of each piece that was read, in bytes, on the reading thread.
  package init(
    bytesPerSecond: Int64? = nil,
    isBackground: Bool = false,
    onRead: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.bytesPerSecond = bytesPerSecond
    self.isBackground = isBackground
    self.onRead = onRead
  }

  package var isStopped: Bool { stopped.load(ordering: .acquiring) }

  /// Ends what is being read, before its next piece, and lets nothing more be read.
  package func stop() { stopped.store(true, ordering: .releasing) }

  /// Counts a piece, and blocks until the next one is due.
  func took(_ count: Int, whileImporting isImporting: Bool) {
    onRead(count)
    var rate = bytesPerSecond ?? .max
    if isBackground, isImporting { rate = min(rate, Self.yielded) }
    guard rate < .max else { return }
    let due = free.withLock { free in
      free = max(free, .now) + .seconds(Double(count) / Double(max(rate, 1)))
      return free
    }
    while !isStopped, due > .now {
      let wait = min(ContinuousClock.now.duration(to: due), Self.slice)
      usleep(useconds_t(max(0, wait.components.attoseconds / 1_000_000_000_000)))
    }
  }
}
