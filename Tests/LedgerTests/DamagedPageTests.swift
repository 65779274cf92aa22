import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

@Suite("Damaged pages", .timeLimit(.minutes(3)))
struct DamagedPageTests {
  private static let page = 4096

  @Test("Garbage in any page that is in use is found at the start")
  func everyPage() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await LedgerFixture.open(directory)
      for number in 1...30 {
        // Long enough for overflow pages.
        var order = HandoffOrder(
          destination: .archive,
          localIdentifiers: [try await fixture.add(number).localIdentifier],
          isAutomatic: false
        )
        order.metadata = .object(["text": .string(String(repeating: "x", count: 9000))])
        _ = try await fixture.ledger.create(order, again: false)
      }
      try await fixture.ledger.close()
      let whole = try FileDescriptor.open(fixture.database, O_RDONLY).readAll(limit: 1 << 26)
      let garbage = (0..<Self.page).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 91) }
      let count = whole.count / Self.page
      #expect(count > 100)
      for number in 0..<count {
        let file = try FileDescriptor.open(fixture.database, O_WRONLY)
        let offset = off_t(number * Self.page)
        #expect(pwrite(file.rawValue, garbage, garbage.count, offset) == garbage.count)
        await #expect(throws: LedgerError.self, "page \(number + 1) of \(count)") {
          try await LedgerFixture.open(directory).ledger.close()
        }
        let bytes = Array(whole[number * Self.page..<(number + 1) * Self.page])
        #expect(pwrite(file.rawValue, bytes, bytes.count, offset) == bytes.count)
      }
      try await LedgerFixture.open(directory).ledger.close()
    }
  }

  @Test("Damage that is met while the ledger is open is told, and nothing more is written")
  func inUse() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let first = try await LedgerFixture.open(directory)
      for number in 1...200 { try await first.add(number, to: [.archive]) }
      try await first.ledger.close()
      let fixture = try await LedgerFixture.open(directory)
      let watch = Task { try await fixture.ledger.untilDamaged() }
      let file = try FileDescriptor.open(fixture.database, O_WRONLY)
      let size = try FileDescriptor.open(fixture.database, O_RDONLY).status().size
      let garbage = [UInt8](repeating: 0xA5, count: Self.page)
      for offset in stride(from: Int64(Self.page), to: size, by: Self.page) {
        #expect(pwrite(file.rawValue, garbage, garbage.count, off_t(offset)) == garbage.count)
      }
      await #expect(throws: SQLiteError.self) { _ = try await fixture.ledger.assets() }
      let error = await #expect(throws: LedgerError.self) { try await watch.value }
      guard case .damaged(fixture.database, _) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      await #expect(throws: LedgerError.self) { try await fixture.add(999) }
      await #expect(throws: LedgerError.self) { _ = try await fixture.claim() }
    }
  }

  @Test(
    "Something else under the ledger's name is refused, and left as it is",
    arguments: ["ln -s elsewhere.db", "mkfifo", "mkdir"],
    ["ledger.db", "ledger.head", "ledger.key"]
  )
  func notAFile(command: String, name: String) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      try await LedgerFixture.open(directory).ledger.close()
      let path = directory.lossyText
      #expect(
        await shell("cd '\(path)' && cp ledger.db elsewhere.db && rm \(name) && \(command) \(name)")
          == 0
      )
      for isReading in [true, false] {
        let error = await #expect(throws: LedgerError.self) {
          if isReading {
            try await Ledger.openForReading(directory: directory).close()
          } else {
            try await LedgerFixture.open(directory).ledger.close()
          }
        }
        guard case .unusable = error else {
          Issue.record("\(String(describing: error))")
          return
        }
      }
      #expect(try FileStatus.of(directory.appending(BytePath(name)))?.kind != .regular)
    }
  }
}
