package import LinuxSystem

/// One connection for reading, on a thread of its own; callers only wait.
package final class ReadQueue: Sendable {
  private let thread: BlockingThread
  // SAFETY: used only by work on `thread`, which runs one piece at a time; and by deinit.
  nonisolated(unsafe) private let connection: Connection
  private let onError: @Sendable (SQLiteError) -> Void

  /// - Parameters:
  ///   - connection: given away: nobody else uses it from now on.
  ///   - thread: whose only user this is from now on.
  ///   - onError: told of each error of SQLite's, before the caller is.
  package init(
    _ connection: sending Connection,
    on thread: BlockingThread,
    onError: @escaping @Sendable (SQLiteError) -> Void = { _ in }
  ) {
    self.thread = thread
    self.connection = connection
    self.onError = onError
  }

  /// Runs reads that all see the same committed state.
  package func read<Value: Sendable>(
    _ work: @escaping @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    do {
      return try await thread.run {
        try self.connection.readTransaction { try work(self.connection) }
      }
    } catch {
      if let failure = error as? SQLiteError { onError(failure) }
      throw error
    }
  }

  /// Closes the connection after the reads that wait.
  package func close() async throws {
    try await thread.run { try self.connection.close() }
  }
}
