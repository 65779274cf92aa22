extension Connection {
  /// Brings the schema up to date: one transaction for all migrations that are missing.
  ///
  /// The count of applied ones is the file's `user_version`. A migration that has been released is
  /// never edited; see sqlite.org/pragma.html#pragma_user_version.
  ///
  /// - Parameters:
  ///   - migrations: in order, from the first.
  ///   - applicationID: marks the file as this program's; an empty file is marked.
  /// - Throws: ``SchemaError`` for a newer schema or another program's file.
  package func migrate(_ migrations: [String], applicationID: Int32) throws {
    try checkSchema(newest: migrations.count, applicationID: applicationID)
    guard try schemaVersion() < migrations.count else { return }
    try transaction {
      // Read again under the lock: another process may have been faster.
      let version = try schemaVersion()
      for migration in migrations.dropFirst(version) { try execute(migration) }
      try execute("PRAGMA application_id = \(applicationID)")
      try execute("PRAGMA user_version = \(migrations.count)")
    }
  }

  /// Throws ``SchemaError`` unless the file is empty or has this program's schema, not a newer one.
  package func checkSchema(newest: Int, applicationID: Int32) throws {
    let owner = try pragma(Self.readApplicationID)
    let version = try schemaVersion()
    let tables = try pragma(Self.countTables)
    guard owner == Int64(applicationID) || (owner == 0 && version == 0 && tables == 0) else {
      throw SchemaError.foreign
    }
    guard version <= newest else { throw SchemaError.newer(found: version, known: newest) }
  }

  /// The number of migrations that were applied.
  package func schemaVersion() throws -> Int {
    Int(try pragma(Self.readUserVersion))
  }

  /// The findings of `PRAGMA quick_check`; none for a sound file.
  ///
  /// It reads the whole file.
  package func damage() throws -> [String] {
    let lines = try rows(Self.quickCheck) { row in try row.text(0) }
    return lines == ["ok"] ? [] : lines
  }

  /// The findings of `PRAGMA integrity_check`, which compares each index with its table too; none for a
  /// sound file.
  package func integrityFindings() throws -> [String] {
    let lines = try rows(Self.integrityCheck) { row in try row.text(0) }
    return lines == ["ok"] ? [] : lines
  }

  private func pragma(_ sql: SQL) throws -> Int64 {
    try first(sql) { row in try row.integer(0) } ?? 0
  }

  private static let readApplicationID = SQL("PRAGMA application_id")
  private static let readUserVersion = SQL("PRAGMA user_version")
  private static let countTables = SQL("SELECT count(*) FROM sqlite_schema")
  private static let quickCheck = SQL("PRAGMA quick_check")
  private static let integrityCheck = SQL("PRAGMA integrity_check")
}

/// A database file that this program must not use.
package enum SchemaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A newer release of this program has changed it.
  case newer(found: Int, known: Int)
  /// It belongs to another program.
  case foreign

  package var description: String {
    switch self {
    case .newer(let found, let known):
      "the schema has version \(found), newer than version \(known) that this release knows"
    case .foreign: "the database belongs to another program"
    }
  }
}
