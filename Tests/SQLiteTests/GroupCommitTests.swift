import Glibc
import HandoffTestSupport
import Paths
import SQLite
import Synchronization
import Testing

/// What a caller of the queue may rely on: it is answered once its work is durable, and never otherwise.
@Suite("Acknowledgement", .timeLimit(.minutes(2)))
struct GroupCommitTests {
  private final class Table {
    let connection: Connection

    init(_ connection: Connection) {
      self.connection = connection
    }
  }

  @Test("Who waits while a transaction is open shares its commit")
  func sharing() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let (queue, commits) = try Self.queue(directory.appending("t.db"))
      let announced = Count()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          // Holds its transaction open until the others have come.
          try await queue.run { table in
            while announced.value.load(ordering: .acquiring) < 99 { sched_yield() }
            _ = try table.connection.run(Self.insert, [.integer(0)])
          }
        }
        for number in 1..<100 as Range<Int64> {
          group.addTask {
            announced.value.add(1, ordering: .releasing)
            try await Self.insert(number, queue)
          }
        }
        try await group.waitForAll()
      }
      // One for all; who was announced and not yet in the line makes the next.
      #expect(commits() <= 10)
      #expect(try Self.stored(directory.appending("t.db")) == 100)
      try await queue.close()
    }
  }

  @Test("A commit that fails acknowledges nobody, and nothing of it stays")
  func failedCommit() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending("t.db")
      let (queue, commits) = try Self.queue(path)
      let announced = Count()
      let answered = await withTaskGroup(of: Bool.self) { group in
        group.addTask {
          do {
            try await queue.run { table in
              while announced.value.load(ordering: .acquiring) < 19 { sched_yield() }
              // A foreign key that is looked at by the commit, and by nothing before it.
              _ = try table.connection.run(Self.orphan)
            }
            return true
          } catch { return false }
        }
        for number in 1..<20 as Range<Int64> {
          group.addTask {
            do {
              announced.value.add(1, ordering: .releasing)
              try await Self.insert(number, queue)
              return true
            } catch { return false }
          }
        }
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      // Who was in the transaction that failed was told so; who came too late for it was in another.
      #expect(try Self.stored(path) == answered)
      #expect(answered < 20)
      #expect(commits() <= answered)
      let later: Int = try await queue.run { try $0.connection.run(Self.insert, [.integer(99)]) }
      #expect(later == 1)
      try await queue.close()
    }
  }

  @Test("Whoever is answered finds the change through another connection, at once")
  func durableFirst() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending("t.db")
      let (queue, _) = try Self.queue(path)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 1...200 as ClosedRange<Int64> {
          group.addTask {
            try await Self.insert(number, queue)
            let other = try Connection(path, .read, busyTimeout: .seconds(5))
            let found = try other.first(Self.find, [.integer(number)]) { _ in true }
            try other.close()
            return found ?? false
          }
        }
        for try await isThere in group { #expect(isThere) }
      }
      try await queue.close()
    }
  }

  @Test("A level below FULL, or another journal, is found out")
  func weakness() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending("t.db")
      let connection = try Connection(path, .write, busyTimeout: .seconds(5))
      #expect(try connection.weakness() == nil)
      for level in ["OFF", "NORMAL"] {
        try connection.execute("PRAGMA synchronous = \(level)")
        #expect(try connection.weakness()?.contains("synchronous") == true)
      }
      try connection.execute("PRAGMA synchronous = EXTRA")
      #expect(try connection.weakness() == nil)
      try connection.execute("PRAGMA journal_mode = DELETE")
      #expect(try connection.weakness()?.contains("journal") == true)
      try connection.close()
      // What another program has set in the file is set back by whoever opens it for writing.
      let again = try Connection(path, .write, busyTimeout: .seconds(5))
      #expect(try again.weakness() == nil)
      try again.close()
    }
  }

  @Test("A lock is waited for as long as was said, also in parts of a second")
  func patience() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let path = directory.appending("t.db")
      let holder = try Connection(path, .write, busyTimeout: .seconds(5))
      let waiter = try Connection(path, .write, busyTimeout: .milliseconds(300))
      try holder.execute("BEGIN IMMEDIATE")
      let start = ContinuousClock.now
      #expect(throws: SQLiteError.self) { try waiter.execute("BEGIN IMMEDIATE") }
      #expect(ContinuousClock.now - start >= .milliseconds(250))
      try holder.execute("ROLLBACK")
      try holder.close()
      try waiter.close()
    }
  }

  private static func insert(_ number: Int64, _ queue: TransactionQueue<Table>) async throws {
    try await queue.run { table in
      _ = try table.connection.run(insert, [.integer(number)])
    }
  }

  private static func queue(
    _ path: BytePath
  ) throws -> (TransactionQueue<Table>, @Sendable () -> Int) {
    let connection = try Connection(path, .write, busyTimeout: .seconds(5))
    try connection.execute(
      """
      CREATE TABLE t (v INTEGER PRIMARY KEY) STRICT;
      CREATE TABLE c (v INTEGER REFERENCES t (v) DEFERRABLE INITIALLY DEFERRED) STRICT
      """
    )
    let commits = Count()
    let queue = TransactionQueue(
      "test",
      context: Table(connection),
      connection: { $0.connection },
      hooks: .init(
        willRun: { _ in },
        didUndo: { _ in },
        didCommit: { _ in commits.value.add(1, ordering: .relaxed) },
        didFail: { _ in }
      )
    )
    return (queue, { commits.value.load(ordering: .relaxed) })
  }

  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  private static func stored(_ path: BytePath) throws -> Int {
    let connection = try Connection(path, .read, busyTimeout: .seconds(5))
    let count = try connection.first(count) { row in try row.integer(0) }
    try connection.close()
    return Int(count ?? -1)
  }

  private static let insert = SQL("INSERT INTO t (v) VALUES (?1)")
  private static let orphan = SQL("INSERT INTO c (v) VALUES (-1)")
  private static let find = SQL("SELECT 1 FROM t WHERE v = ?1")
  private static let count = SQL("SELECT count(*) FROM t")
}
