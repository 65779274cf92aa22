import HandoffProtocol
import SQLite

extension HandoffRow {
  /// When its sender wants a handoff published; nil where no moment was given, or there is no such row.
  static func publishMoment(of id: Int64, _ connection: Connection) throws -> Timestamp? {
    try connection.first(publishAt, [.integer(id)]) { row in
      try row.optionalInteger(0)
    }?.map(Timestamp.init(milliseconds:))
  }

  /// The part of an UPDATE by which a pending row waits for that moment, or for nothing; `?2` is the present
  /// one.
  static let waitForMoment = """
    waiting_reason = iif (publish_at > ?2, 'publish_at', NULL),
      waiting_until = iif (publish_at > ?2, publish_at, NULL),
      due_at = max (?2, ifnull (publish_at, 0))
    """

  private static let publishAt = SQL("SELECT publish_at FROM handoffs WHERE id = ?1")
}
