import HandoffLog
import HandoffProtocol
import Synchronization

/// Logs refused requests: the first at once, and then one line for each interval that had any, with
/// how many there were of each code.
///
/// Anybody can have any number of requests refused; each must not cost a line.
final class RefusalLog: Sendable {
  private struct State {
    var counts: [ErrorCode: Int] = [:]
    var lastLine: ContinuousClock.Instant?
  }

  static let interval: Duration = .seconds(10)

  private let logger: Logger
  private let state = Mutex(State())

  init(logger: Logger) {
    self.logger = logger
  }

  func count(_ code: ErrorCode) {
    let line = state.withLock { state -> String? in
      state.counts[code, default: 0] += 1
      let isFresh = state.lastLine.map { $0.duration(to: .now) < Self.interval } ?? false
      return isFresh ? nil : Self.takeLine(from: &state)
    }
    write(line)
  }

  /// Writes what was counted and not yet said, once the interval is over; called every now and then.
  func flush(isLast: Bool = false) {
    let line = state.withLock { state -> String? in
      guard !state.counts.isEmpty else { return nil }
      let isFresh = state.lastLine.map { $0.duration(to: .now) < Self.interval } ?? false
      return isFresh && !isLast ? nil : Self.takeLine(from: &state)
    }
    write(line)
  }

  private func write(_ line: String?) {
    guard let line else { return }
    logger.warning("Requests were refused", [.detail: line])
  }

  private static func takeLine(from state: inout State) -> String {
    let counts = state.counts.sorted { $0.key.text < $1.key.text }
    state.counts = [:]
    state.lastLine = .now
    return counts.map { "\($0.key.text) \($0.value)" }.joined(separator: ", ")
  }
}
