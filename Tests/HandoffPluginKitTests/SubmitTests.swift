import Glibc
import HandoffPluginKit
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

@Suite("Taking handoffs", .timeLimit(.minutes(1)))
struct SubmitTests {
  @Test("discover tells what the destination is")
  func discovery() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      let found = try await broker.discover(Script().settings())
      #expect(found.name == "plain")
      #expect(found.version == "1.2")
      #expect(found.protocolVersions == [1, 2, 3])
      #expect(found.constraints == Plain.constraints)
      #expect(found.capabilities?.contains("reconcile") == true)
    }
  }

  @Test("settings that do not fit are refused with the member's name, null asks only who it is")
  func settings() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      let refusal = await #expect(throws: RPCMessage.Failure.self) {
        try await broker.discover(.object(["script": .string("x")]))
      }
      #expect(refusal?.data?.code == .notConfigured)
      #expect(refusal?.data?.message.contains("script") == true)
      let refused = try await broker.submit(handoff())
      #expect(!refused.accepted)
      #expect(refused.error?.code == .notConfigured)
      #expect(try await broker.discover(.null).name == "plain")
    }
  }

  @Test("a broker without a version in common is refused")
  func versions() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      let refusal = await #expect(throws: RPCMessage.Failure.self) {
        try await broker.discover(Script().settings(), versions: [4, 99])
      }
      #expect(refusal?.data?.code == .versionIncompatible)
    }
  }

  @Test("a handoff is in the journal, readable by its owner only and without its token")
  func journal() async throws {
    let work = try TemporaryFolder()
    let gate = Gate()
    let script = Script { handoff, _ in
      try await gate.pass()
      return Receipt(["url": .string("https://example.net/\(handoff.id)")])
    }
    let result = try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      #expect(try await broker.submit(handoff()).accepted)
      let file = try FileDescriptor.open(work.entry("h1"), O_RDONLY)
      #expect(try file.status().permissions == 0o600)
      let text = String(decoding: try file.readAll(limit: 10_000), as: UTF8.self)
      #expect(text.contains("A title"))
      #expect(!text.contains("secret-of-h1"))
      gate.open()
      return try await broker.nextResult()
    }
    #expect(result.state.revealed == "secret-of-h1")
    #expect(result.outcome.output?["url"]?.text == "https://example.net/h1")
  }

  @Test("a handoff that is submitted again runs once and is answered once")
  func duplicates() async throws {
    let work = try TemporaryFolder()
    let runs = Counter()
    let gate = Gate()
    let script = Script { _, _ in
      runs.add()
      try await gate.pass()
      return Receipt()
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      #expect(try await broker.submit(handoff()).accepted)
      #expect(try await broker.submit(handoff()).accepted)
      gate.open()
      _ = try await broker.nextResult()
      #expect(try await broker.submit(handoff()).accepted)
      let knowledge: HandoffKnowledge = try await broker.ask(.probe, handoff().reference)
      #expect(knowledge.standing == .finished)
      #expect(broker.received.count == 1)
    }
    // Over another connection it is told once more, and still not done again.
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      #expect(try await broker.submit(handoff(attempt: 2)).accepted)
      #expect(try await broker.nextResult().outcome.output != nil)
    }
    #expect(runs.value == 1)
  }

  @Test("a failed handoff runs again when its attempt is raised, and finds what was recorded")
  func attempts() async throws {
    let work = try TemporaryFolder()
    let script = Script { handoff, context in
      if handoff.attempt == 1 {
        try await context.record("uploaded", .string("m7"))
        throw ResultError(.quota, "enough", effect: .none, retry: .later, retryAfter: 9)
      }
      return Receipt(["stage": context.stage?.data ?? .null])
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      #expect(try await broker.submit(handoff()).accepted)
      let first = try await broker.nextResult()
      #expect(first.outcome.failure?.retryAfter == 9)
      #expect(try await broker.submit(handoff(attempt: 2)).accepted)
      #expect(try await broker.nextResult().outcome.output?["stage"]?.text == "m7")
    }
  }

  @Test("what is not a request of this version is refused with the protocol's code")
  func malformed() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(Script().settings())
      var old = try WireCoder.value(handoff())
      old = old.setting("request", "protocol_version", .integer(4))
      let version: SubmitAnswer = try await broker.ask(.submit, old)
      #expect(version.error?.code == .versionIncompatible)
      let climbing = try await broker.submit(handoff("../x", token: "t"))
      #expect(climbing.error?.code == .malformedRequest)
      let empty: SubmitAnswer = try await broker.ask(.submit, JSONValue.object([:]))
      #expect(empty.error?.code == .malformedRequest)
      let many = try await broker.submit(handoff(assets: [1, 2, 3]))
      #expect(many.error?.code == .countOutOfRange)
      #expect(try Directory.entries(of: work.path.appending("handoffs")).isEmpty)
    }
  }

  @Test("a request of each version is taken, and its result answers in that version")
  func everyVersion() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(Script().settings(), versions: [1, 2, 3])
      for version in 1...3 {
        var parameters = handoff("v\(version)")
        parameters.request.protocolVersion = version
        if version == 1 { parameters.request.title = nil }
        #expect(try await broker.submit(parameters).accepted)
        #expect(try await broker.nextResult().protocolVersion == version)
        let known: HandoffKnowledge = try await broker.ask(.probe, parameters.reference)
        #expect(known.result?.protocolVersion == version)
      }
    }
  }

  @Test("preflight says what would be refused, records nothing, and asks the author")
  func preflight() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(Script().settings())
      let request = handoff("p").request
      func asset(_ size: Int64) -> ConstrainedAsset {
        ConstrainedAsset(
          localIdentifier: request.localIdentifiers[0],
          size: size,
          duration: nil,
          container: nil,
          videoCodec: nil,
          width: nil,
          height: nil
        )
      }
      for (size, code) in [(Int64(1000), nil), (1001, ErrorCode.sizeOutOfRange)] {
        let parameters = PreflightParameters(
          handoffID: "p",
          request: request,
          assets: [asset(size)]
        )
        let answer: PreflightAnswer = try await broker.ask(.preflight, parameters)
        #expect(answer.accepted == (code == nil) && answer.error?.code == code)
      }
      let late: SubmitAnswer = try await broker.ask(.submit, JSONValue.object([:]))
      #expect(late.error?.code == .malformedRequest)
      #expect(try Directory.entries(of: work.path.appending("handoffs")).isEmpty)
    }
  }

  @Test("an unknown message is answered unsupported")
  func unsupported() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      let failure = await #expect(throws: RPCMessage.Failure.self) {
        try await broker.ask("asset.levitate")
      }
      #expect(failure?.code == -32_601)
    }
  }

  @Test("not more handoffs run at once than the destination says")
  func concurrency() async throws {
    let work = try TemporaryFolder()
    let gate = Gate()
    let runs = Counter()
    let script = Script { handoff, _ in
      runs.add()
      try await gate.pass(handoff.id)
      return Receipt()
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      for id in ["a", "b", "c"] { #expect(try await broker.submit(handoff(id)).accepted) }
      #expect(await gate.arrival() != nil)
      #expect(await gate.arrival() != nil)
      let status: JSONValue = try await broker.ask(.status, JSONValue.object([:]))
      #expect(status["running"] == .integer(2))
      #expect(status["waiting"] == .integer(1))
      #expect(runs.value == 2)
      gate.open()
      for _ in 0..<3 { _ = try await broker.nextResult() }
      #expect(runs.value == 3)
    }
  }
}

/// Counts from several tasks.
final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}

extension JSONValue {
  /// An object with one member of an inner object replaced.
  func setting(_ outer: String, _ inner: String, _ value: JSONValue) -> JSONValue {
    guard case .object(var members) = self, case .object(var object) = members[outer] else {
      return self
    }
    object[inner] = value
    members[outer] = .object(object)
    return .object(members)
  }
}
