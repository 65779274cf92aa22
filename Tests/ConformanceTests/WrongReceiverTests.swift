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
    let report = try await report(program, only: wrong.only, limits: Self.limits)
    let failure = report.failures.first { $0.name == wrong.check }
    let finding = try #require(failure?.finding, "\(failureText(report))")
    #expect(finding.mend.contains(wrong.words), "\(finding.mend)")
    #expect(!finding.got.isEmpty)
    #expect(!failureText(report).contains(try Regex("4711\\.[A-Za-z0-9_-]{20}")))
    let isLast = wrong.check == .leftovers
    #expect(isLast || !finding.exchange.isEmpty)
  }

  @Test("without settings the last line says that no handoff was tried")
  func noHandoff() async throws {
    let folder = try TemporaryFolder()
    let wrong = WrongReceiver(
      "needs a setting",
      .submit,
      "",
      (
        "\"constraints\":",
        "\"settings_schema\": {'required': ['account'], 'properties': {}}, \"constraints\":"
      ),
      (
        "def submit(handoff_id, request, **_):",
        "def submit(handoff_id, request, **_):\n    raise NotImplementedError('not_configured')\ndef old("
          + "handoff_id, request, **_):"
      )
    )
    let program = try DocumentedReceivers.write(try wrong.program(), in: folder.path)
    let report = try await report(program, only: [.submit], limits: Self.limits)
    #expect(report.failures.isEmpty, "\(failureText(report))")
    #expect(report.summary.last?.hasSuffix("checks passed; no handoff was tried") == true)
  }

  @Test("a video outside of declared constraints is told of, and not handed off")
  func outsideConstraints() async throws {
    let folder = try TemporaryFolder()
    let wrong = WrongReceiver(
      "takes films only",
      .submit,
      "",
      ("{\"max_count\": 1}", "{\"min_duration_s\": 60}")
    )
    let program = try DocumentedReceivers.write(try wrong.program(), in: folder.path)
    let report = try await report(program, only: [.submit], limits: Self.limits)
    let reason = report.entries.lazy.compactMap { entry -> String? in
      if entry.name == .submit, case .skipped(let reason) = entry.verdict { return reason }
      return nil
    }.first
    #expect(reason?.contains("min_duration_s is 60") == true && reason?.contains("--video") == true)
    #expect(report.summary.last?.hasSuffix("no handoff was tried") == true)
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
