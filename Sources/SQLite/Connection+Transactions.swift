extension Connection {
  /// Runs work in a transaction that takes the write lock at once, so that it never has to upgrade a
  /// read lock (which fails without waiting).
  package func transaction<Result>(_ work: () throws -> Result) throws -> Result {
    try run(Self.begin)
    return try finish(work)
  }

  /// Runs reads that all see the same state.
  package func readTransaction<Result>(_ work: () throws -> Result) throws -> Result {
    try run(Self.beginReading)
    return try finish(work)
  }

  /// Runs work of which everything or nothing stays, inside a transaction.
  package func savepoint<Result>(_ work: () throws -> Result) throws -> Result {
    try run(Self.savepoint)
    do {
      let result = try work()
      try run(Self.release)
      return result
    } catch {
      // Where SQLite has rolled back the whole transaction by itself there is no savepoint left.
      if !isOutsideTransaction {
        try run(Self.rollBackToSavepoint)
        try run(Self.release)
      }
      throw error
    }
  }

  private func finish<Result>(_ work: () throws -> Result) throws -> Result {
    do {
      let result = try work()
      try run(Self.commit)
      return result
    } catch {
      if !isOutsideTransaction { try run(Self.rollBack) }
      throw error
    }
  }

  static let begin = SQL("BEGIN IMMEDIATE")
  static let commit = SQL("COMMIT")
  static let rollBack = SQL("ROLLBACK")
  private static let beginReading = SQL("BEGIN")
  private static let savepoint = SQL("SAVEPOINT one")
  private static let release = SQL("RELEASE one")
  private static let rollBackToSavepoint = SQL("ROLLBACK TO one")
}
