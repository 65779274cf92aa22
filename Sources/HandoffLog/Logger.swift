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

  /// A logger in front of which repeats are merged.
  ///
  /// - Parameters:
  ///   - threshold: the least important level that is written.
  ///   - merger: counts the repeats.
  ///   - elapsed: the moment, on a clock that only goes forward.
  ///   - sink: takes each record; called from any thread.
  package init(
    threshold: LogRecord.Level = .info,
    merging merger: RepeatMerger,
    elapsed: @escaping @Sendable () -> Duration,
    sink: @escaping @Sendable (LogRecord) -> Void
  ) {
    self.init(threshold: threshold) { record in
      for line in merger.take(record, at: elapsed()) { sink(line) }
    }
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

  /// A warning that others of the same cause, whatever they are about, are merged with.
  package func warning(
    _ message: StaticString,
    _ fields: [LogKey: String],
    cause: String
  ) {
    guard LogRecord.Level.warning <= threshold else { return }
    var record = LogRecord(.warning, "\(message)", fields)
    record.cause = cause
    sink(record)
  }

  /// Tells that a cause is over; once, and only where a warning of it was written.
  package func ended(
    _ cause: String,
    _ message: StaticString,
    _ fields: [LogKey: String] = [:]
  ) {
    guard LogRecord.Level.notice <= threshold else { return }
    var record = LogRecord(.notice, "\(message)", fields)
    record.ends = cause
    sink(record)
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
