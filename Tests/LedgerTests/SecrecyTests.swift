import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import Testing

@Suite("What the ledger keeps secret", .timeLimit(.minutes(2)))
struct SecrecyTests {
  @Test("No file of the ledger, no log record and no error holds a token or the key")
  func nowhere() async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let records = Captured<LogRecord>()
      let logger = Logger(threshold: .debug, sink: records.append)
      let fixture = try await LedgerFixture.open(directory, logger: logger)
      let claimed = try await fixture.submitted()
      let token = claimed.request.state
      _ = try await fixture.answer(claimed, .success(output: [:]), from: .social)
      _ = try await fixture.answer(claimed, .success(output: [:]))
      _ = try await fixture.answer(claimed, .success(output: [:]))
      let code = Array(try #require(token.revealed.split(separator: ".").last).utf8)
      #expect(code.count == 43)
      let key = try read(directory, "ledger.key")
      for name in ["ledger.db", "ledger.db-wal", "ledger.head"] {
        let bytes = try read(directory, name)
        #expect(!bytes.isEmpty)
        #expect(!contains(bytes, code), "\(name)")
        #expect(!contains(bytes, key), "\(name)")
      }
      for text in records.all.map({ "\($0)" }) + ["\(claimed)", "\(fixture.ledger)"] {
        #expect(!contains(Array(text.utf8), code))
      }
      try await fixture.ledger.close()
      #expect(!contains(try read(directory, "ledger.db"), code))
    }
  }

  @Test("Tokens never repeat, and are of one form")
  func unique() async throws {
    try await LedgerFixture.with { fixture in
      for number in 1...300 { try await fixture.add(number, to: [.archive, .social]) }
      let claimed =
        try await fixture.claim(.archive, limit: 300) + fixture.claim(.social, limit: 300)
      let codes = claimed.compactMap { $0.request.state.revealed.split(separator: ".").last }
      #expect(Set(codes).count == 600)
      #expect(codes.allSatisfy { $0.utf8.count == 43 })
    }
  }

  private func read(_ directory: BytePath, _ name: String) throws -> [UInt8] {
    try FileDescriptor.open(directory.appending(name), O_RDONLY).readAll(limit: 50_000_000)
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    let first = part[0]
    var rest = bytes[...]
    while let index = rest.firstIndex(of: first) {
      rest = rest[index...]
      if rest.starts(with: part) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}
