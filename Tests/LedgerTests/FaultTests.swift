import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import Testing

@Suite("Faults at every point of the ledger", .timeLimit(.minutes(10)))
struct FaultTests {
  /// Ends the walk: the run passed without reaching the point.
  private static let passed: CInt = 42

  @Test("A kill at any point leaves a ledger that opens, with all that was answered")
  func kills() async throws {
    try await walk { "*:\($0):kill" }
  }

  @Test("An error at any point is told, and leaves a ledger that opens", arguments: [ENOSPC, EIO])
  func errors(number: CInt) async throws {
    try await walk { "ledger.commit:\($0):errno=\(number)" }
    try await walk { "ledger.operation:\($0):errno=\(number)" }
  }

  private func walk(_ plan: (Int) -> String) async throws {
    for ordinal in 1...200 {
      let fault = plan(ordinal)
      let isPassed = try await withTemporaryDirectory(inMemory: true) { directory in
        let path = directory.lossyText
        let result = try await #require(processExitsWith: .failure) {
          [fault = fault as String, path = path as String] in
          setenv("HANDOFF_FAULT", fault, 1)
          await liveOneLife(BytePath(path))
        }
        try await check(directory, after: fault)
        return result.exitStatus == .exitCode(Self.passed)
      }
      if isPassed {
        #expect(ordinal >= 5, "\(fault)")
        return
      }
    }
    Issue.record("the walk did not end")
  }

  /// What must hold whatever happened: the ledger opens, its chain is whole, everything that was
  /// answered is there, and the life can be led to its end exactly once.
  private func check(_ directory: BytePath, after fault: String) async throws {
    let answered = try readLines(directory.appending("answered"))
    let fixture = try await LedgerFixture.open(directory)
    guard case .intact = try await fixture.ledger.verifyChain() else {
      Issue.record("\(fault): the chain is broken")
      return
    }
    let handoffs = try await fixture.ledger.handoffs()
    #expect(handoffs.count <= 1, "\(fault)")
    if answered.contains("imported") { #expect(handoffs.count == 1, "\(fault)") }
    if answered.contains("submitted") {
      #expect(handoffs.allSatisfy { $0.submittedAt != nil }, "\(fault)")
    }
    if answered.contains("success") { #expect(handoffs.map(\.status) == [.succeeded], "\(fault)") }
    try await finish(fixture)
    #expect(try await fixture.ledger.handoffs().map(\.status) == [.succeeded], "\(fault)")
    try await fixture.ledger.close()
  }

  private func finish(_ fixture: LedgerFixture) async throws {
    try await fixture.add(1, to: [.archive])
    _ = try await fixture.ledger.recoverAtStart()
    for claimed in try await fixture.claim() {
      try await fixture.ledger.recordSubmission(claimed.handoff.id, leaseID: claimed.leaseID)
    }
    for claimed in try await fixture.ledger.openHandoffs(destination: .archive) {
      _ = try await fixture.answer(claimed, .success(output: [:]))
    }
  }

  private func readLines(_ path: BytePath) throws -> [String] {
    guard access(path.nulTerminated, F_OK) == 0 else { return [] }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1000)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

/// In the child: one life, each answer written down; exits with 42, or 1 for an error that was told.
private func liveOneLife(_ directory: BytePath) async {
  func answered(_ text: String) throws {
    let path = directory.appending("answered")
    try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_APPEND).write(Array("\(text)\n".utf8))
  }
  do {
    let fixture = try await LedgerFixture.open(directory)
    try await fixture.add(1, to: [.archive])
    try answered("imported")
    let claimed = try await fixture.claim()
    for claim in claimed {
      try await fixture.ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
      try answered("submitted")
      _ = try await fixture.answer(claim, .success(output: [:]))
      try answered("success")
    }
    try await fixture.ledger.close()
    exit(42)
  } catch {
    exit(1)
  }
}
