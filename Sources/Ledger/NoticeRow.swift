import HandoffCore
import HandoffProtocol
import SQLite

/// One row of `notices` as it stands in the database.
struct NoticeRow: Sendable {
  let id: Int64
  let callback: String
  let kind: String
  let subject: String
  let body: String
  let createdAt: Int64

  var state: Notice.State
  var attempts: Int64
  var dueAt: Int64?
  var firstAttemptAt: Int64?
  var finishedAt: Int64?
  var error: String?

  /// The columns in the order in which the initialiser reads them.
  static let columns = """
    id, callback, kind, subject, body, created_at, state, attempts, due_at, first_attempt_at,
    finished_at, error
    """

  init(_ row: borrowing Row) throws {
    id = try row.integer(0)
    callback = try row.text(1)
    kind = try row.text(2)
    subject = try row.text(3)
    body = try row.text(4)
    createdAt = try row.integer(5)
    let stateText = try row.text(6)
    guard let state = Notice.State(rawValue: stateText) else {
      throw UnreadableRow(id: id, column: "state")
    }
    self.state = state
    attempts = try row.integer(7)
    dueAt = try row.optionalInteger(8)
    firstAttemptAt = try row.optionalInteger(9)
    finishedAt = try row.optionalInteger(10)
    error = try row.optionalText(11)
  }
}

extension Notice {
  /// The notice of a row, with its document decoded; not for the writer's thread.
  init(_ row: NoticeRow) throws {
    guard let callback = CallbackID(row.callback) else {
      throw UnreadableRow(id: row.id, column: "callback")
    }
    guard let kind = Kind(rawValue: row.kind) else {
      throw UnreadableRow(id: row.id, column: "kind")
    }
    self.init(
      id: ID(row: row.id),
      callback: callback,
      kind: kind,
      subject: row.subject,
      body: try WireCoder.decode([String: JSONValue].self, from: row.body.utf8),
      createdAt: Timestamp(milliseconds: row.createdAt)
    )
    state = row.state
    attempts = Int(row.attempts)
    dueAt = Timestamp(milliseconds: row.dueAt ?? row.createdAt)
    firstAttemptAt = row.firstAttemptAt.map(Timestamp.init(milliseconds:))
    finishedAt = row.finishedAt.map(Timestamp.init(milliseconds:))
    error = row.error
  }
}
