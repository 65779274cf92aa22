import Paths
import SQLite
import Testing

/// What is compared of each row.
struct RowView: Equatable {
  var status: String
  var attempts: Int64
  var failures: Int64
  var waiting: String?
  var until: Int64?
  var result: String?
  var effect: String?
  var earlier: String?
  var isConsumed: Bool
  var isFinished: Bool
  var isWished: Bool
  var late: Int64
  var need: String?
  var expiresAt: Int64?
  var ceilingAt: Int64?
  var leaseUntil: Int64?

  init(_ model: ModelHandoff) {
    status = model.status
    attempts = Int64(model.attempts)
    failures = Int64(model.failures)
    waiting = model.waiting
    until = model.until
    result = model.result
    effect = model.effect
    earlier = model.earlier
    isConsumed = model.isConsumed
    isFinished = model.isFinal
    isWished = model.isWished
    late = Int64(model.lateResults)
    need = model.need
    expiresAt = model.expiresAt
    ceilingAt = model.ceilingAt
    leaseUntil = model.leaseUntil
  }

  init(_ row: borrowing Row) throws {
    status = try row.text(1)
    attempts = try row.integer(2)
    failures = try row.integer(3)
    waiting = try row.optionalText(4)
    until = try row.optionalInteger(5)
    result = try row.optionalText(6)
    effect = try row.optionalText(7)
    earlier = try row.optionalText(8)
    isConsumed = !row.isNull(9)
    isFinished = !row.isNull(10)
    isWished = !row.isNull(11)
    late = try row.integer(12)
    need = try row.optionalText(13)
    expiresAt = try row.optionalInteger(14)
    ceilingAt = try row.optionalInteger(15)
    leaseUntil = try row.optionalInteger(16)
  }

  /// The rows of a ledger by their numbers.
  ///
  /// - Parameters:
  ///   - database: the ledger's file, read by a connection of its own as any other program would.
  ///   - id: only this row, or all.
  /// - Returns: nothing where there is no such row.
  /// - Throws: ``SQLiteError``.
  static func all(in database: Connection, _ id: Int64? = nil) throws -> [Int64: RowView] {
    var rows: [Int64: RowView] = [:]
    let values: [Value] = id.map { [.integer($0)] } ?? []
    try database.forEach(id == nil ? everything : one, values) { row in
      rows[try row.integer(0)] = try RowView(row)
    }
    return rows
  }

  private static let columns = """
    SELECT id, status, attempts, failures, waiting_reason, waiting_until, result, error_effect,
      earlier_effect, consumed_at, finished_at, cancel_requested_at, late_results, user_need,
      expires_at, ceiling_at, lease_until FROM handoffs
    """
  private static let everything = SQL(columns)
  private static let one = SQL(columns + " WHERE id = ?1")
}
