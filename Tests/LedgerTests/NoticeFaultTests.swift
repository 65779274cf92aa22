import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import Testing

@Suite("Faults between a handoff's end and its notice", .timeLimit(.minutes(10)))
struct NoticeFaultTests {
  /// Ends the walk: the run passed without reaching the point.
  private static let passed: CInt = 42

  @Test(
    "Whatever fails or kills, there is no end without its notice, and no notice without its end",
    arguments: ["*:N:kill", "ledger.operation:N:errno=5", "ledger.commit:N:errno=28"]
  )
  func walk(plan: String) async throws {
    for ordinal in 1...200 {
      let fault = plan.split(separator: "N").joined(separator: "\(ordinal)")
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

  private func check(_ directory: BytePath, after fault: String) async throws {
    let fixture = try await NoticeFixture.open(directory)
    let handoffs = try await fixture.ledger.handoffs()
    let ended = handoffs.filter(\.status.isFinal)
    let notices = try await fixture.ledger.notices(of: Handoff.ID(row: 1))
    #expect(notices.count == ended.count, "\(fault)")
    #expect(notices.allSatisfy { $0.body["status"]?.text == "succeeded" }, "\(fault)")
    let told = access(directory.appending("told").nulTerminated, F_OK) == 0
    #expect(!told || notices.count == 1, "\(fault)")
    let recorded = access(directory.appending("recorded").nulTerminated, F_OK) == 0
    if recorded { #expect(notices.map(\.state) == [.delivered], "\(fault)") }
    try await fixture.ledger.close()
  }
}

/// In the child: one life with its notice brought and recorded; exits with 42, or 1 for an error.
private func liveOneLife(_ directory: BytePath) async {
  func mark(_ name: String) throws {
    _ = try FileDescriptor.open(directory.appending(name), O_WRONLY | O_CREAT)
  }
  do {
    let fixture = try await NoticeFixture.open(directory)
    let claimed = try await fixture.submitted(1)
    _ = try await fixture.base.answer(claimed, .success(output: [:]))
    for notice in try await fixture.ledger.nextNotices(for: .sender, limit: 9) {
      try mark("told")
      try await fixture.ledger.recordDelivery(of: notice.id)
      try mark("recorded")
    }
    try await fixture.ledger.close()
    exit(42)
  } catch {
    exit(1)
  }
}
