import Synchronization

/// Keeps one lasting fault from filling the log: its first record is written at once, those that follow
/// are counted, and written once for each of intervals that grow, with how many there were.
///
/// Only warnings and errors are merged; a transition is one record each. Records are of one fault when
/// they have the same cause, or else the same sentence about the same things: long numbers in words for
/// people, which may be free bytes, do not count; those in names tell files apart. Pure: the moments come
/// from outside, on a clock that only goes forward.
package final class RepeatMerger: Sendable {
  private struct Fault {
    var last: LogRecord
    /// Not written since the last line.
    var unsaid = 0
    var lineAt: Duration
    var seenAt: Duration
    /// How many lines there were: the interval grows with them.
    var lines = 1
    /// Its end was told; it may begin again.
    var isOver = false

    var interval: Duration {
      RepeatMerger.intervals[min(lines, RepeatMerger.intervals.count) - 1]
    }

    /// The line for what was counted.
    mutating func line(at moment: Duration) -> LogRecord {
      var record = last
      record.fields[.count] = "\(unsaid)"
      unsaid = 0
      lineAt = moment
      lines += 1
      return record
    }
  }

  /// How long after its first, second … line a fault is not told again.
  package static let intervals: [Duration] = [
    .seconds(1), .seconds(10), .seconds(60), .seconds(600), .seconds(3600),
  ]
  /// A fault that was not met for so long is a new one when it comes.
  package static let memory: Duration = .seconds(7200)
  /// More faults than these at once are not told apart any more: the oldest is forgotten.
  private static let limit = 2000

  private let faults = Mutex<[String: Fault]>([:])

  package init() {}

  /// What is to be written now, given one more record.
  package func take(_ record: LogRecord, at moment: Duration) -> [LogRecord] {
    faults.withLock { faults in
      if let cause = record.ends { return Self.end(cause, record, &faults) }
      guard record.level == .warning || record.level == .error else {
        return Self.due(&faults, at: moment) + [record]
      }
      let key = Self.key(record)
      var lines: [LogRecord] = []
      if let known = faults[key], moment - known.seenAt >= Self.memory {
        // What was counted of it is told first.
        lines = Self.due(&faults, at: moment)
        faults[key] = nil
      }
      guard var fault = faults[key] else {
        lines += Self.due(&faults, at: moment) + Self.makeRoom(&faults, at: moment)
        faults[key] = Fault(last: record, lineAt: moment, seenAt: moment)
        return lines + [record]
      }
      fault.last = record
      fault.seenAt = moment
      fault.isOver = false
      // A record may itself stand for several.
      fault.unsaid += record.fields[.count].flatMap { Int($0) } ?? 1
      faults[key] = fault
      return Self.due(&faults, at: moment)
    }
  }

  /// The counts that are to be written now; asked every now and then, since perhaps nothing else comes.
  package func due(at moment: Duration) -> [LogRecord] {
    faults.withLock { faults in Self.due(&faults, at: moment) }
  }

  /// What was counted and not written yet: before the end.
  package func rest() -> [LogRecord] {
    faults.withLock { faults in
      faults.keys.sorted().compactMap { key in
        guard let fault = faults[key], fault.unsaid > 0 else { return nil }
        return faults[key]?.line(at: fault.lineAt)
      }
    }
  }

  /// The counts whose interval is over.
  private static func due(_ faults: inout [String: Fault], at moment: Duration) -> [LogRecord] {
    var lines: [LogRecord] = []
    for (key, fault) in faults where fault.unsaid > 0 && moment - fault.lineAt >= fault.interval {
      if let line = faults[key]?.line(at: moment) { lines.append(line) }
    }
    return lines
  }

  /// Tells the end of a fault that was told, once.
  private static func end(
    _ cause: String,
    _ record: LogRecord,
    _ faults: inout [String: Fault]
  ) -> [LogRecord] {
    guard let fault = faults[cause], !fault.isOver else { return [] }
    faults[cause]?.isOver = true
    faults[cause]?.unsaid = 0
    var told = record
    if fault.unsaid > 0 { told.fields[.count] = "\(fault.unsaid)" }
    return [told]
  }

  /// Forgets the oldest fault where there are too many; what was counted of it is told.
  private static func makeRoom(
    _ faults: inout [String: Fault],
    at moment: Duration
  ) -> [LogRecord] {
    guard faults.count >= limit,
      let oldest = faults.min(by: { $0.value.seenAt < $1.value.seenAt }),
      var fault = faults.removeValue(forKey: oldest.key), fault.unsaid > 0
    else { return [] }
    return [fault.line(at: moment)]
  }

  private static func key(_ record: LogRecord) -> String {
    if let cause = record.cause { return cause }
    let fields = record.fields.filter { $0.key != .count }.sorted { $0.key < $1.key }
    let texts = fields.map { key, value in
      "\(key.rawValue)=\(words.contains(key) ? withoutLongNumbers(value) : value)"
    }
    return ([record.message] + texts).joined(separator: "\n")
  }

  /// What is no name of anything.
  private static let words: Set<LogKey> = [.detail, .error, .pid, .reason, .size]

  private static func withoutLongNumbers(_ text: String) -> String {
    var kept = ""
    var digits = ""
    for character in text {
      if character.isASCII, character.isNumber {
        digits.append(character)
        continue
      }
      kept += digits.count < 4 ? digits : "#"
      digits = ""
      kept.append(character)
    }
    return kept + (digits.count < 4 ? digits : "#")
  }
}
