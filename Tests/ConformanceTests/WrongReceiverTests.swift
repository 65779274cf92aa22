import Conformance
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Receivers that are wrong on purpose", .timeLimit(.minutes(10)))
struct WrongReceiverTests {
  /// Short, because many of them do not answer; long enough for a machine that is busy.
  private static var limits: Conformance.Limits {
    var limits = Conformance.Limits()
    limits.discovery = .seconds(5)
    limits.answer = .seconds(4)
    limits.result = .seconds(4)
    limits.end = .seconds(3)
    return limits
  }

  @Test(
    "each fails the right check, and its author is told what to mend",
    arguments: WrongReceiver.all
  )
  func fails(wrong: WrongReceiver) async throws {
    let folder = try TemporaryFolder()
    let program = try DocumentedReceivers.write(try wrong.program(), in: folder.path)
    let report = try await report(program, only: [wrong.check], limits: Self.limits)
    let failure = report.failures.first { $0.name == wrong.check }
    let finding = try #require(failure?.finding, "\(failureText(report))")
    #expect(finding.mend.contains(wrong.words), "\(finding.mend)")
    #expect(!finding.got.isEmpty)
    #expect(!failureText(report).contains("secret-"))
    let isLast = wrong.check == .leftovers
    #expect(isLast || !finding.exchange.isEmpty)
  }

  @Test("a program that cannot be run at all is told of")
  func notAProgram() async throws {
    let folder = try TemporaryFolder()
    let program = try DocumentedReceivers.write("#!/bin/sh\nexit 7\n", in: folder.path)
    let report = try await report(program, limits: Self.limits)
    #expect(report.failures.map(\.name) == [.starts])
    #expect(report.failures.first?.finding.got.contains("exit code 7") == true)
    #expect(report.summary.last == "1 of 2 checks passed")
  }
}
