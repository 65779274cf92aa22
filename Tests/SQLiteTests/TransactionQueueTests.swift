import HandoffTestSupport
import Paths
import SQLite
import Synchronization
import Testing

@Suite("Group commit", .timeLimit(.minutes(2)))
struct TransactionQueueTests {
  @Test("Many callers share commits, and each gets its own answer")
  func shared() async throws {
    try await withQueue { queue, counts in
      let sum = try await withThrowingTaskGroup(of: Int64.self) { group in
        for number in 1...500 as ClosedRange<Int64> {
          group.addTask { try await queue.run { try $0.insert(number) } }
        }
        return try await group.reduce(0, +)
      }
      #expect(sum == 500 * 501 / 2)
      let stored = try await queue.run { try $0.count() }
      #expect(stored == 500)
      #expect(counts.commits.load(ordering: .relaxed) < 500)
    }
  }

  @Test("An error undoes only the work that threw it")
  func ownError() async throws {
    try await withQueue { queue, counts in
      let failed = await withTaskGroup(of: Bool.self) { group in
        for number in 1...100 as ClosedRange<Int64> {
          group.addTask {
            do {
              try await queue.run { context in
                _ = try context.insert(number)
                if number.isMultiple(of: 10) { throw Refused() }
              }
              return false
            } catch {
              return error is Refused
            }
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      #expect(failed == 10)
      let stored = try await queue.run { try $0.count() }
      #expect(stored == 90)
      #expect(counts.undone.load(ordering: .relaxed) == 10)
    }
  }

  @Test("A transaction that the database itself rolled back fails for all, and the next one works")
  func brokenBatch() async throws {
    try await withQueue { queue, counts in
      await #expect(throws: (any Error).self) {
        try await queue.run { context in
          _ = try context.insert(1)
          try context.connection.execute("ROLLBACK")
          throw Refused()
        }
      }
      #expect(counts.failed.load(ordering: .relaxed) == 1)
      let stored = try await queue.run { try $0.count() }
      #expect(stored == 0)
    }
  }

  @Test("A lock that is held for longer than the timeout is an error that may pass")
  func busy() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending("test.db")
      let (queue, _) = try makeQueue(path, busyTimeout: .zero)
      let other = try Connection(path, .write, busyTimeout: .zero)
      try other.execute("BEGIN IMMEDIATE")
      let error = await #expect(throws: SQLiteError.self) {
        try await queue.run { try $0.count() }
      }
      #expect(error?.isBusy == true)
      #expect(error?.mayPass == true)
      try other.execute("COMMIT")
      let stored = try await queue.run { try $0.count() }
      #expect(stored == 0)
      try await queue.close()
    }
  }

  @Test("A closed queue refuses work")
  func closed() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let (queue, _) = try makeQueue(directory.appending("test.db"), busyTimeout: .seconds(5))
      _ = try await queue.run { try $0.insert(1) }
      try await queue.close()
      await #expect(throws: QueueClosed.self) { try await queue.run { try $0.count() } }
    }
  }
}

private struct Refused: Error {}

private final class Counts: Sendable {
  let commits = Atomic<Int>(0)
  let undone = Atomic<Int>(0)
  let failed = Atomic<Int>(0)
}

private final class Context {
  let connection: Connection
  private static let insert = SQL("INSERT INTO t (v) VALUES (?1)")
  private static let count = SQL("SELECT count(*) FROM t")

  init(_ connection: Connection) {
    self.connection = connection
  }

  func insert(_ number: Int64) throws -> Int64 {
    try connection.run(Self.insert, [.integer(number)])
    return number
  }

  func count() throws -> Int64 {
    try connection.first(Self.count) { row in try row.integer(0) } ?? 0
  }
}

private func makeQueue(
  _ path: BytePath,
  busyTimeout: Duration
) throws -> (TransactionQueue<Context>, Counts) {
  let counts = Counts()
  let connection = try Connection(path, .write, busyTimeout: busyTimeout)
  try connection.execute("CREATE TABLE t (v INTEGER) STRICT")
  let queue = TransactionQueue(
    "test",
    context: Context(connection),
    connection: { $0.connection },
    hooks: .init(
      willRun: { _ in },
      didUndo: { _ in counts.undone.add(1, ordering: .relaxed) },
      didCommit: { _ in counts.commits.add(1, ordering: .relaxed) },
      didFail: { _ in counts.failed.add(1, ordering: .relaxed) }
    )
  )
  return (queue, counts)
}

nonisolated(nonsending) private func withQueue(
  _ body: nonisolated(nonsending) (TransactionQueue<Context>, Counts) async throws -> Void
) async throws {
  try await withTemporaryDirectory(inMemory: true) { directory in
    let (queue, counts) = try makeQueue(directory.appending("test.db"), busyTimeout: .seconds(5))
    try await body(queue, counts)
    try await queue.close()
  }
}
