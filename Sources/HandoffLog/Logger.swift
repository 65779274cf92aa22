/// Where records go.
///
/// It comes in through initialisers; nothing here is global.
package struct Logger: Sendable {
  private let threshold: LogRecord.Level
  private let sink: @Sendable (LogRecord) -> Void

  /// - Parameters:
  ///   - threshold: the least important level that is written.
  ///   - sink: takes each record; called from any thread.
  package init(threshold: LogRecord.Level = .info, sink: @escaping @Sendable (LogRecord) -> Void) {
    self.threshold = threshold
    self.sink = sink
  }

  /// Writes nothing.
  package static let silent = Logger { _ in }

  package func log(
    _ level: LogRecord.Level,
    _ message: StaticString,
    _ fields: [LogKey: String] = [:]
  ) {
    guard level <= threshold else { return }
    sink(LogRecord(level, "\(message)", fields))
  }

  package func critical(_ message: StaticString, _ fields: [LogKey: String] = [:]) {
    log(.critical, message, fields)
  }

  package func error(_ message: StaticString, _ fields: [LogKey: String] = [:]) {
    log(.error, message, fields)
  }

  package func warning(_ message: StaticString, _ fields: [LogKey: String] = [:]) {
    log(.warning, message, fields)
  }

  package func notice(_ message: StaticString, _ fields: [LogKey: String] = [:]) {
    log(.notice, message, fields)
  }

  package func info(_ message: StaticString, _ fields: [LogKey: String] = [:]) {
    log(.info, message, fields)
  }

  package func debug(_ message: StaticString, _ fields: [LogKey: String] = [:]) {
    log(.debug, message, fields)
  }

  /// Does something whose failure changes nothing any more, and logs it instead of dropping it.
  package func logged(_ doing: StaticString, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      warning(doing, [.error: "\(error)"])
    }
  }
}
