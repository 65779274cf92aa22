import SQLite

extension LedgerFixture {
  /// Events that fit a condition, in order: name and detail.
  func events(_ condition: String) throws -> [String] {
    let connection = try Connection(database, .read, busyTimeout: .seconds(5))
    let events = try connection.rows(
      SQL("SELECT event || ' ' || ifnull (detail, '') FROM events WHERE \(condition) ORDER BY seq")
    ) { row in try row.text(0) }
    try connection.close()
    return events
  }

  /// Changes the database behind the ledger's back.
  func tamper(_ script: String) throws {
    let connection = try Connection(database, .write, busyTimeout: .seconds(5))
    // What the schema itself forbids is taken away first.
    try connection.execute("DROP TRIGGER IF EXISTS handoffs_request; \(script)")
    try connection.close()
  }
}
