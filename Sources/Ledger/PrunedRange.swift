import Digests
import SQLite

/// A run of events that was dropped, with what keeps the chain provable over it.
struct PrunedRange: Hashable, Sendable {
  var first: Int64
  var last: Int64
  /// The code of the event before the run.
  var before: [UInt8]
  /// The code of the run's last event.
  var after: [UInt8]
  /// The keyed digest of all of it.
  var mac: [UInt8] = []

  /// How many events it stands for.
  var count: Int64 { last - first + 1 }

  /// Whoever drops events has the ledger's key: nobody else can make this.
  func isGenuine(_ keys: LedgerKeys) throws -> Bool {
    constantTimeEqual(mac, try code(keys))
  }

  /// With its own keyed digest.
  func signed(_ keys: LedgerKeys) throws -> PrunedRange {
    var range = self
    range.mac = try code(keys)
    return range
  }

  private func code(_ keys: LedgerKeys) throws -> [UInt8] {
    var message: [UInt8] = []
    for number in [first, last] {
      withUnsafeBytes(of: number.bigEndian) { message.append(contentsOf: $0) }
    }
    return try HMACSHA256.code(of: message + before + after, key: keys.pruning)
  }
}

extension PrunedRange {
  private init(_ row: borrowing Row) throws {
    first = try row.integer(0)
    last = try row.integer(1)
    before = try row.blob(2)
    after = try row.blob(3)
    mac = try row.blob(4)
  }

  /// The run that an event is in; nil for one that is not dropped.
  static func covering(_ sequence: Int64, in connection: Connection) throws -> PrunedRange? {
    try connection.first(RangeQueries.covering, [.integer(sequence)]) { row in
      try PrunedRange(row)
    }.flatMap { $0.last >= sequence ? $0 : nil }
  }

  /// The runs that reach beyond an event and begin at another or before.
  static func beyond(
    _ sequence: Int64,
    to limit: Int64,
    in connection: Connection
  ) throws -> [PrunedRange] {
    try connection.rows(
      RangeQueries.beyond,
      [.integer(sequence), .integer(limit)]
    ) { row in try PrunedRange(row) }.filter { $0.last > sequence }
  }

  /// Writes it down in the place of those that it has taken in.
  func save(replacing others: [PrunedRange], in connection: Connection) throws {
    for other in others {
      try connection.run(RangeQueries.delete, [.integer(other.first)])
    }
    try connection.run(
      RangeQueries.insert,
      [.integer(first), .integer(last), .blob(before), .blob(after), .blob(mac)]
    )
  }
}

private enum RangeQueries {
  private static let columns = "first, last, before, after, mac"
  static let covering = SQL(
    "SELECT \(columns) FROM pruned_events WHERE first <= ?1 ORDER BY first DESC LIMIT 1"
  )
  static let beyond = SQL(
    """
    SELECT \(columns) FROM pruned_events WHERE first <= ?2
      AND first >= ifnull ((SELECT max (first) FROM pruned_events WHERE first <= ?1 + 1), 0)
    ORDER BY first
    """
  )
  static let insert = SQL("INSERT INTO pruned_events (\(columns)) VALUES (?1, ?2, ?3, ?4, ?5)")
  static let delete = SQL("DELETE FROM pruned_events WHERE first = ?1")
}
