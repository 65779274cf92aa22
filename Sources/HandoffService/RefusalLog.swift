import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Synchronization

/// Tells of refused results: the first at once, those that follow it within an interval by their number.
///
/// A receiver that sends garbage can so fill neither the log nor the disk that it is on.
final class RefusalLog: Sendable {
  private struct Kind: Hashable {
    /// Nil for a result that came by itself.
    let destination: DestinationName?
    let code: ErrorCode
  }

  /// How many have followed, for each kind whose interval runs.
  private let following = Mutex<[Kind: Int]>([:])
  private let interval: Duration

  init(interval: Duration = .seconds(10)) {
    self.interval = interval
  }

  /// Tells of one refused result, or counts it.
  func note(
    _ code: ErrorCode,
    _ message: String,
    from destination: DestinationName?,
    in logger: Logger
  ) {
    let kind = Kind(destination: destination, code: code)
    let isFirst = following.withLock { following in
      let count = following[kind]
      following[kind] = count.map { $0 + 1 } ?? 0
      return count == nil
    }
    guard isFirst else { return }
    var fields: [LogKey: String] = [.errorCode: code.text, .detail: message]
    fields[.destination] = destination?.text
    logger.warning("A result was refused", fields)
    tellLater(kind, logger)
  }

  private func tellLater(_ kind: Kind, _ logger: Logger) {
    _ = EventLoop.process.after(interval) { [weak self] in self?.tell(kind, logger) }
  }

  private func tell(_ kind: Kind, _ logger: Logger) {
    let count = following.withLock { following in
      let count = following[kind] ?? 0
      following[kind] = count == 0 ? nil : 0
      return count
    }
    guard count > 0 else { return }
    var fields: [LogKey: String] = [.errorCode: kind.code.text, .count: "\(count)"]
    fields[.destination] = kind.destination?.text
    logger.warning("More results were refused", fields)
    tellLater(kind, logger)
  }
}
