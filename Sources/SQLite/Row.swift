import CSQLite

/// One row of a result, valid only inside the closure that is given it; columns count from 0.
package struct Row: ~Copyable {
  private let statement: OpaquePointer
  private let sql: SQL

  init(_ statement: OpaquePointer, _ sql: SQL) {
    self.statement = statement
    self.sql = sql
  }

  /// The column is NULL.
  package func isNull(_ column: Int) -> Bool {
    sqlite3_column_type(statement, CInt(column)) == SQLITE_NULL
  }

  /// An integer; throws for any other type.
  package func integer(_ column: Int) throws(SQLiteError) -> Int64 {
    try expect(SQLITE_INTEGER, column)
    return sqlite3_column_int64(statement, CInt(column))
  }

  /// An integer that is not 0; throws for any other type.
  package func flag(_ column: Int) throws(SQLiteError) -> Bool {
    try integer(column) != 0
  }

  /// An integer, or nil for NULL.
  package func optionalInteger(_ column: Int) throws(SQLiteError) -> Int64? {
    isNull(column) ? nil : try integer(column)
  }

  /// A floating-point number; throws for any other type.
  package func real(_ column: Int) throws(SQLiteError) -> Double {
    try expect(SQLITE_FLOAT, column)
    return sqlite3_column_double(statement, CInt(column))
  }

  /// A text; throws for any other type.
  package func text(_ column: Int) throws(SQLiteError) -> String {
    try expect(SQLITE_TEXT, column)
    guard let start = sqlite3_column_text(statement, CInt(column)) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, CInt(column)))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// A text, or nil for NULL.
  package func optionalText(_ column: Int) throws(SQLiteError) -> String? {
    isNull(column) ? nil : try text(column)
  }

  /// Bytes; throws for any other type.
  package func blob(_ column: Int) throws(SQLiteError) -> [UInt8] {
    try expect(SQLITE_BLOB, column)
    guard let start = sqlite3_column_blob(statement, CInt(column)) else { return [] }
    let count = Int(sqlite3_column_bytes(statement, CInt(column)))
    return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  private func expect(_ type: CInt, _ column: Int) throws(SQLiteError) {
    let found = sqlite3_column_type(statement, CInt(column))
    guard found == type else {
      throw SQLiteError(
        code: SQLITE_MISMATCH,
        message: "column \(column) has type \(found), not \(type)",
        sql: sql.text
      )
    }
  }
}
