import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Synchronization
import Testing

/// The write-ahead log and those who read beside the writer.
@Suite("The write-ahead log", .timeLimit(.minutes(20)))
struct LogLongTests {
  private static let isLong = environmentValue("HANDOFF_LONG") != nil
  /// The shipped limit in the long run; else one that a small run reaches.
  private static let limit: Int64 = isLong ? 64 << 20 : 2 << 20

  @Test(
    "Case 47: a reader that is held is reported with the log's size, and the log shrinks after it"
  )
  func heldReader() async throws {
    try await Self.with { fixture in
      let held = try Connection(fixture.database, .read, busyTimeout: .seconds(5))
      try held.execute("BEGIN")
      let before = try held.first(Self.count) { row in try row.integer(0) }
      try await Self.lives(fixture, Self.isLong ? 20_000 : 300)
      let during = await fixture.ledger.condition()
      #expect(during.log.isHeld)
      #expect(during.log.bytes > Self.limit)
      // It sees what it began with, and nobody was kept waiting.
      #expect(try held.first(Self.count) { row in try row.integer(0) } == before)
      try held.execute("COMMIT")
      let small = try await poll(within: .seconds(30)) {
        let now = await fixture.ledger.condition()
        return now.log.isHeld ? nil : now.log.bytes
      }
      #expect(small ?? .max <= Self.limit)
      #expect(await fixture.ledger.condition().failure == nil)
      try held.close()
    }
  }

  @Test("The log stays bounded though somebody reads at every moment")
  func readersWithoutPause() async throws {
    let lives = Self.isLong ? 100_000 : 500
    try await Self.with { fixture in
      let signs = Signs()
      let readers = BlockingThread("test.readers")
      async let reading: Void = readers.run {
        // One begins before the other ends.
        let pair = try (0..<2).map { _ in
          try Connection(fixture.database, .read, busyTimeout: .seconds(5))
        }
        try Self.begin(pair[0])
        while !signs.isOver.load(ordering: .acquiring) {
          try Self.begin(pair[1])
          try pair[0].execute("COMMIT")
          try Self.begin(pair[0])
          try pair[1].execute("COMMIT")
          signs.turns.add(1, ordering: .relaxed)
        }
        try pair[0].execute("COMMIT")
        for connection in pair { try connection.close() }
      }
      let log = fixture.database.addingSuffix("-wal")
      var largest: Int64 = 0
      for _ in 0..<10 {
        try await Self.lives(fixture, lives / 10)
        largest = max(largest, try FileStatus.of(log)?.size ?? 0)
      }
      signs.isOver.store(true, ordering: .releasing)
      try await reading
      let turns = signs.turns.load(ordering: .relaxed)
      print("\(lives) lives under \(turns) readers: \(largest >> 10) KiB of log")
      #expect(turns > 10)
      // What SQLite folds at once by itself, and what comes between two looks, are above the limit.
      #expect(largest < Self.limit + (Self.isLong ? 24 << 20 : 8 << 20))
    }
  }

  @Test("Readers do not wait for the writer: they answer while a transaction is open")
  func openWriter() async throws {
    try await Self.with { fixture in
      let id = try #require(try await fixture.add(1, to: [.archive]).created.first)
      let writer = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      try writer.execute("BEGIN IMMEDIATE; UPDATE handoffs SET late_results = late_results + 1")
      #expect(try await fixture.handoff(id).lateResults == 0)
      #expect(try await fixture.ledger.counts().handoffs == [.pending: 1])
      #expect(try await fixture.ledger.history(of: id).count == 1)
      let reader = try await Ledger.openForReading(directory: fixture.directory)
      #expect(try await reader.handoffs().map(\.lateResults) == [0])
      try await reader.close()
      try writer.execute("COMMIT")
      #expect(try await fixture.handoff(id).lateResults == 1)
      try writer.close()
    }
  }

  private final class Signs: Sendable {
    let isOver = Atomic<Bool>(false)
    let turns = Atomic<Int>(0)
  }

  nonisolated(nonsending) private static func with(
    _ body: nonisolated(nonsending) (LedgerFixture) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: !isLong) { directory in
      let time = ManualTime()
      let ledger = try await Ledger.open(
        directory: directory,
        logger: .silent,
        now: { time.now },
        logLimit: limit
      )
      try await body(LedgerFixture(ledger: ledger, directory: directory, time: time))
      try await ledger.close()
    }
  }

  /// Whole lives of handoffs, some at once.
  private static func lives(_ fixture: LedgerFixture, _ count: Int) async throws {
    let order = HandoffOrder(
      destination: .archive,
      localIdentifiers: [try await fixture.add(1).localIdentifier],
      isAutomatic: false
    )
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in 0..<(isLong ? 16 : 4) {
        group.addTask {
          for _ in stride(from: part, to: count, by: isLong ? 16 : 4) {
            _ = try await fixture.ledger.create(order, again: true)
            for claimed in try await fixture.claim() {
              try await fixture.ledger.recordSubmission(
                claimed.handoff.id,
                leaseID: claimed.leaseID
              )
              _ = try await fixture.answer(claimed, .success(output: [:]))
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func begin(_ connection: Connection) throws {
    try connection.execute("BEGIN")
    _ = try connection.first(count) { row in try row.integer(0) }
  }

  private static let count = SQL("SELECT count(*) FROM sqlite_schema")
}
