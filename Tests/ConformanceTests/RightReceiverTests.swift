import Conformance
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths
import Testing

@Suite("Receivers that are right", .timeLimit(.minutes(5)))
struct RightReceiverTests {
  @Test(
    "the shipped receivers pass without settings of their author",
    arguments: [
      ("handoff-archive", CheckName.killedAfterResult), ("handoff-preview", .killedAfterResult),
      ("handoff-social", .submit),
    ]
  )
  func shipped(name: String, passed: CheckName) async throws {
    let report = try await report(try productsFolder().appending(BytePath(name)))
    #expect(report.failures.isEmpty, "\(failureText(report))")
    #expect(report.passed.contains(passed))
    #expect(report.entries.count == CheckName.allCases.count)
    #expect(report.passed.contains(.settings))
  }

  @Test("social passes every check against a server")
  func social() async throws {
    let server = MastodonStandIn(token: "not-a-real-token")
    let settings: [String: JSONValue] = [
      "server": .string("http://127.0.0.1:\(try server.start())"),
      "token_env": .string("SOCIAL_TOKEN"), "poll_interval_s": .number(0.01),
    ]
    let report = try await report(
      try productsFolder().appending("handoff-social"),
      settings: .object(settings),
      variables: ["SOCIAL_TOKEN": "not-a-real-token"]
    )
    #expect(report.failures.isEmpty, "\(failureText(report))")
    #expect(Set(report.passed).isSuperset(of: [.several, .cancel, .killedAtWork, .replay]))
    #expect(!server.statuses.isEmpty)
  }

  @Test("the page's receiver in Python passes, in fewer than 60 lines of the standard library")
  func python() async throws {
    let folder = try TemporaryFolder()
    let text = try DocumentedReceivers.python
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count < 60)
    let report = try await report(try DocumentedReceivers.write(text, in: folder.path))
    #expect(report.failures.isEmpty, "\(failureText(report))")
    #expect(
      Set(report.passed).isSuperset(of: [.eachVersion, .killedAtWork, .killedAfterResult, .replay])
    )
  }

  @Test("the page's receiver in Swift passes, is what is built, and has fewer than 40 lines")
  func swift() async throws {
    let text = try DocumentedReceivers.swift
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().count < 40)
    #expect(try DocumentedReceivers.swiftFixture == text)
    let folder = try TemporaryFolder()
    let report = try await report(
      try productsFolder().appending("shelf-receiver"),
      settings: .object(["folder": .string(folder.path.lossyText)])
    )
    #expect(report.failures.isEmpty, "\(failureText(report))")
    #expect(Set(report.passed).isSuperset(of: [.several, .cancel, .killedAtWork, .replay]))
    #expect(try !Directory.entries(of: folder.path).isEmpty)
  }

  @Test("optional parts are skipped, and the last line counts what was made")
  func counts() async throws {
    let folder = try TemporaryFolder()
    let text = try DocumentedReceivers.python
    let report = try await report(try DocumentedReceivers.write(text, in: folder.path))
    let skipped = report.entries.filter {
      if case .skipped = $0.verdict { return true }
      return false
    }
    let optional: Set<CheckName> = [
      .cancel, .preflight, .settings, .severalAssets, .statusChecks, .verify, .verifyMissing,
    ]
    #expect(Set(skipped.map(\.name)) == optional)
    #expect(report.summary.last == "37 of 37 checks passed")
  }
}
