import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("The doctor", .timeLimit(.minutes(1)))
struct DoctorTests {
  private static let destinations = """
    [destination.good]
    transport = "exec"
    command = ["/bin/true"]

    """

  private static func look(_ scene: Scene) async throws -> (CInt, [JSONValue]) {
    let ended = try await scene.broker.command(["doctor", "--json"])
    let report = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return (ended.code, report["checks"]?.elements ?? [])
  }

  private static func line(_ check: String, in lines: [JSONValue]) -> JSONValue? {
    lines.first { $0["check"]?.text == check }
  }

  @Test("finds nothing wrong while the broker runs, and looks while it is down")
  func healthy() async throws {
    try await Scene.run(Scene.configuration(destinations: Self.destinations)) { scene in
      let (code, lines) = try await Self.look(scene)
      #expect(code == 0, "\(lines)")
      #expect(!lines.contains { $0["standing"]?.text == "problem" })
      for check in ["broker", "inotify", "folders", "ledger", "library", "programs"] {
        #expect(Self.line(check, in: lines)?["standing"]?.text == "ok", "\(check): \(lines)")
      }
      #expect(try await scene.broker.json("status")["containment"]?.text?.isEmpty == false)
      await scene.broker.end(SIGTERM)
      let (downCode, down) = try await Self.look(scene)
      #expect(downCode == 0)
      let broker = Self.line("broker", in: down)
      #expect(broker?["standing"]?.text == "warning")
      #expect(broker?["remedy"]?.text?.contains("handoff serve") == true)
      #expect(Self.line("ledger", in: down)?["standing"]?.text == "ok")
    }
  }

  @Test("names what is configured and not there, and how to mend it")
  func problems() async throws {
    let destinations = """
      [destination.bad]
      transport = "exec"
      command = ["/nowhere/receiver"]
      read = ["/nowhere/fonts"]
      env = ["HANDOFF_TEST_NOT_SET"]
      """
    try await Scene.run(Scene.configuration(destinations: destinations), starting: false) { scene in
      let (code, lines) = try await Self.look(scene)
      #expect(code == 1)
      let problems = lines.filter { $0["standing"]?.text == "problem" }
      let texts = problems.compactMap { $0["text"]?.text }
      #expect(texts.contains { $0.contains("/nowhere/receiver") })
      #expect(texts.contains { $0.contains("/nowhere/fonts") })
      #expect(problems.allSatisfy { $0["remedy"]?.text?.isEmpty == false })
      let secret = Self.line("secrets", in: lines)
      #expect(secret?["standing"]?.text == "warning")
      #expect(secret?["text"]?.text?.contains("HANDOFF_TEST_NOT_SET") == true)
    }
  }
}
