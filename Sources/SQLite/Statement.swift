import CSQLite

/// A prepared statement of one connection, used by its thread only.
final class Statement {
  private let handle: OpaquePointer
  let sql: SQL

  /// - Parameters:
  ///   - sql: what is prepared.
  ///   - database: the open connection's handle.
  /// - Throws: ``SQLiteError`` for a statement that SQLite does not understand.
  init(_ sql: SQL, in database: OpaquePointer) throws(SQLiteError) {
    var prepared: OpaquePointer?
    let flags = CUnsignedInt(SQLITE_PREPARE_PERSISTENT)
    let code = sqlite3_prepare_v3(database, sql.text, -1, flags, &prepared, nil)
    guard code == SQLITE_OK, let prepared else {
      throw SQLiteError(database, code, sql)
    }
    self.handle = prepared
    self.sql = sql
  }

  deinit {
    // It repeats the code of the last step, which was reported then.
    _ = sqlite3_finalize(handle)
  }

  /// Binds values from the first placeholder on; the rest is null.
  func bind(_ values: [Value]) throws(SQLiteError) {
    for (offset, value) in values.enumerated() {
      let index = CInt(offset + 1)
      let code =
        switch value {
        case .null: sqlite3_bind_null(handle, index)
        case .integer(let value): sqlite3_bind_int64(handle, index, value)
        case .real(let value): sqlite3_bind_double(handle, index, value)
        case .text(let value): bind(value, at: index)
        case .blob(let value):
          value.withUnsafeBytes {
            handoff_sqlite3_bind_blob(handle, index, $0.baseAddress, CInt($0.count))
          }
        }
      guard code == SQLITE_OK else { throw SQLiteError(sqlite3_db_handle(handle), code, sql) }
    }
  }

  private func bind(_ text: String, at index: CInt) -> CInt {
    var text = text
    return text.withUTF8 { bytes in
      // An empty buffer may have no address, and a null pointer would bind NULL.
      guard let start = bytes.baseAddress else {
        return handoff_sqlite3_bind_text(handle, index, "", 0)
      }
      return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
        handoff_sqlite3_bind_text(handle, index, $0, CInt(bytes.count))
      }
    }
  }

  /// Goes to the next row; false when there is none.
  func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code: throw SQLiteError(sqlite3_db_handle(handle), code, sql)
    }
  }

  /// Makes it ready for the next use, and holds no lock and no value any more.
  func reset() {
    // Both repeat the code of the last step, which was reported then.
    _ = sqlite3_reset(handle)
    _ = sqlite3_clear_bindings(handle)
  }

  /// The present row.
  var row: Row { Row(handle, sql) }
}

extension SQLiteError {
  /// The error of the call that has just failed.
  init(_ database: OpaquePointer?, _ code: CInt, _ sql: SQL? = nil) {
    let text = database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    self.init(
      code: database.map { sqlite3_extended_errcode($0) } ?? code,
      message: text.map { String(cString: $0) } ?? "error \(code)",
      sql: sql?.text
    )
  }
}
