import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

@Suite("Opening a ledger", .timeLimit(.minutes(2)))
struct OpeningTests {
  @Test("A new ledger, its key and its head belong to their owner alone")
  func files() async throws {
    try await LedgerFixture.with { fixture in
      for name in ["ledger.db", "ledger.key", "ledger.head"] {
        let path = fixture.directory.appending(name)
        let status = try FileDescriptor.open(path, O_RDONLY).status()
        #expect(status.permissions == 0o600, "\(name)")
      }
      let key = try FileDescriptor.open(fixture.directory.appending("ledger.key"), O_RDONLY)
      #expect(try key.readAll(limit: 100).count == 32)
    }
  }

  @Test("What was committed is there after closing and opening again, and the key stays")
  func reopened() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      let submitted = try await first.submitted()
      try await first.ledger.close()
      let second = try await LedgerFixture.open(directory, time: first.time)
      let open = try await second.ledger.openHandoffs(destination: .archive)
      #expect(open.map(\.handoff.id) == [submitted.handoff.id])
      let token = try #require(open.first?.request.state)
      #expect(token.matches(submitted.request.state))
      #expect(try await second.answer(submitted, .success(output: [:])).name == "applied")
      try await second.ledger.close()
    }
  }

  @Test("A ledger that has vanished is not made anew", arguments: [true, false])
  func vanished(isEmptied: Bool) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1)
      try await fixture.ledger.close()
      try #require(unlink(fixture.database.nulTerminated) == 0)
      if isEmptied { _ = try FileDescriptor.open(fixture.database, O_WRONLY | O_CREAT) }
      await #expect(throws: LedgerError.vanished(fixture.database)) {
        try await LedgerFixture.open(directory)
      }
    }
  }

  @Test("A ledger whose write-ahead log was deleted is refused as cut")
  func logDeleted() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1)
      // As a crash would leave it: the database without what is still in the log.
      let copy = directory.appending("copy")
      try #require(mkdir(copy.nulTerminated, 0o700) == 0)
      for name in ["ledger.db", "ledger.key", "ledger.head"] {
        let bytes = try FileDescriptor.open(directory.appending(name), O_RDONLY)
          .readAll(limit: 10_000_000)
        try FileDescriptor.open(copy.appending(name), O_WRONLY | O_CREAT).write(bytes)
      }
      let error = await #expect(throws: LedgerError.self) { try await LedgerFixture.open(copy) }
      switch error {
      case .cut, .vanished, .unusable: break
      default: Issue.record("\(String(describing: error))")
      }
      try await fixture.ledger.close()
    }
  }

  @Test("A damaged ledger is refused")
  func damaged() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      for number in 1...50 { try await fixture.add(number, to: [.archive]) }
      try await fixture.ledger.close()
      let file = try FileDescriptor.open(fixture.database, O_RDWR)
      let size = try file.status().size
      let garbage = [UInt8](repeating: 0xA5, count: 4096)
      for offset in stride(from: 4096, to: size, by: 8192) {
        #expect(pwrite(file.rawValue, garbage, garbage.count, off_t(offset)) == garbage.count)
      }
      let error = await #expect(throws: LedgerError.self) {
        try await LedgerFixture.open(directory)
      }
      guard case .damaged(let path, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(path == fixture.database)
    }
  }

  @Test("A file that is no database is refused, and left as it is")
  func notADatabase() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.ledger.close()
      let text = [UInt8](repeating: UInt8(ascii: "x"), count: 5000)
      try FileDescriptor.open(fixture.database, O_WRONLY | O_TRUNC).write(text)
      await #expect(throws: LedgerError.self) { try await LedgerFixture.open(directory) }
      let left = try FileDescriptor.open(fixture.database, O_RDONLY).readAll(limit: 10_000)
      #expect(left == text)
    }
  }

  @Test(
    "A newer ledger and another program's database are refused",
    arguments: ["PRAGMA user_version = 99", "PRAGMA application_id = 1"]
  )
  func foreign(change: String) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.ledger.close()
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(1))
      try connection.execute(change)
      try connection.close()
      for isReading in [true, false] {
        let error = await #expect(throws: LedgerError.self) {
          if isReading {
            _ = try await Ledger.openForReading(directory: directory)
          } else {
            _ = try await LedgerFixture.open(directory)
          }
        }
        guard case .unusable = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
    }
  }

  @Test("A ledger without its key is refused, and no new key is made")
  func keyLost() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.ledger.close()
      let key = directory.appending("ledger.key")
      try #require(unlink(key.nulTerminated) == 0)
      await #expect(throws: LedgerError.keyLost(key)) { try await LedgerFixture.open(directory) }
      #expect(access(key.nulTerminated, F_OK) != 0)
    }
  }

  @Test("A ledger can be read while the broker has it open, and after it has ended")
  func reading() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      await #expect(throws: LedgerError.missing(directory.appending("ledger.db"))) {
        try await Ledger.openForReading(directory: directory)
      }
      #expect(access(directory.appending("ledger.db").nulTerminated, F_OK) != 0)
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1, to: [.archive])
      for isRunning in [true, false] {
        if !isRunning { try await fixture.ledger.close() }
        let reader = try await Ledger.openForReading(directory: directory)
        #expect(try await reader.assets().count == 1)
        #expect(try await reader.handoffs().map(\.destination) == [.archive])
        #expect(try await reader.verifyChain() == .intact(events: 2))
        try await reader.close()
      }
    }
  }

  @Test(
    "A ledger without a readable head file may be an old copy, and is refused",
    arguments: [true, false]
  )
  func headMissing(isEmptied: Bool) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      try await fixture.add(1)
      try await fixture.ledger.close()
      let head = directory.appending("ledger.head")
      try #require(unlink(head.nulTerminated) == 0)
      if isEmptied { _ = try FileDescriptor.open(head, O_WRONLY | O_CREAT) }
      for _ in 0..<2 {
        await #expect(throws: LedgerError.headLost(head)) {
          try await LedgerFixture.open(directory)
        }
      }
    }
  }

  @Test("A crash before the first head file leaves a ledger that begins")
  func headNotYetMade() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await LedgerFixture.open(directory).ledger.close()
      let head = directory.appending("ledger.head")
      try #require(unlink(head.nulTerminated) == 0)
      let again = try await LedgerFixture.open(directory)
      try await again.add(1)
      #expect(try await again.ledger.verifyChain() == .intact(events: 1))
      try await again.ledger.close()
      #expect(access(head.nulTerminated, F_OK) == 0)
    }
  }
}
