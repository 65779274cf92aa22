import SQLite

extension Event {
  /// The columns in the order in which the initialiser reads them; the event's number comes before them,
  /// its code after.
  static let columns = """
    seq, at, event, handoff, asset, destination, from_status, to_status, attempt, detail, mac
    """

  init(_ row: borrowing Row) throws {
    self.init(
      at: try row.integer(1),
      kind: try row.text(2),
      handoff: try row.optionalInteger(3),
      asset: try row.optionalInteger(4),
      destination: try row.optionalText(5),
      from: try row.optionalText(6),
      to: try row.optionalText(7),
      attempt: try row.optionalInteger(8),
      detail: try row.optionalText(9)
    )
  }
}
