import HandoffClient
import HandoffProtocol
import HandoffTestSupport
import HandoffWire
import LinuxSystem
import Paths
import Testing

@Suite("A sender's client", .timeLimit(.minutes(1)))
struct HandoffClientTests {
  private static let identifier = "69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001"

  private func request(key: String? = nil) -> SendRequest {
    SendRequest(
      [known(LocalIdentifier(Self.identifier))],
      to: known(DestinationName("social")),
      key: key
    )
  }

  private func handoff(_ status: String, _ more: [String: JSONValue] = [:]) -> JSONValue {
    let members: [String: JSONValue] = [
      "id": .string("h7"), "key": .string("k"), "destination": .string("social"),
      "local_identifiers": .array([.string(Self.identifier)]), "status": .string(status),
      "attempts": .integer(1), "output": .object([:]), "error": .null,
      "origin": .string("verified"),
    ]
    return .object(members.merging(more) { _, new in new })
  }

  private func failure(_ code: String, side: String, effect: String) -> [String: JSONValue] {
    [
      "error": .object([
        "code": .string(code), "message": .string("m"), "effect": .string(effect),
        "side": .string(side), "local_identifier": .null, "remedy": .null,
      ])
    ]
  }

  /// Runs a test with a broker that reacts so, and returns what it was asked.
  private func with(
    _ reactions: [StandInBroker.Reaction],
    patience: Duration = .seconds(20),
    _ body: nonisolated(nonsending) (HandoffClient) async throws -> Void
  ) async throws -> [(method: String, parameters: JSONValue)] {
    let folder = try TemporaryFolder()
    let broker = StandInBroker(reactions)
    let listener = try UnixSocket.listen(folder.path.appending("handoff.sock"))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await broker.run(listener) }
      try await body(HandoffClient(state: folder.path.lossyText, patience: patience))
      group.cancelAll()
    }
    return broker.questions
  }

  @Test("a lost reply is asked for again with the same key, so that one handoff is made")
  func lostReply() async throws {
    let done = handoff("succeeded", ["output": .object(["id": .string("17")])])
    let asked = try await with([.hangsUp, .answers(handoff("pending")), .hangsUp, .answers(done)]) {
      let end = try await $0.send(request())
      #expect(end.outcome == .succeeded(output: ["id": .string("17")]))
      #expect(end.isVerified && end.isSuccess)
    }
    #expect(asked.map(\.method) == ["send", "send", "wait", "wait"])
    let keys = asked.prefix(2).map { $0.parameters["key"]?.text }
    #expect(keys[0] == keys[1] && keys[0]?.hasPrefix("client-") == true)
  }

  @Test("a key of the sender's own is kept, and two sends without one have two")
  func keys() async throws {
    let done = StandInBroker.Reaction.answers(handoff("succeeded"))
    let asked = try await with([done, done, done]) { client in
      _ = try await client.send(request(key: "mine"))
      _ = try await client.send(request())
      _ = try await client.send(request())
    }
    #expect(asked[0].parameters["key"]?.text == "mine")
    #expect(asked[1].parameters["key"]?.text != asked[2].parameters["key"]?.text)
  }

  @Test("a broker that stops is waited for, one that refuses is not")
  func refusals() async throws {
    let error = ResultError(.destinationUnknown, "no such", effect: .none)
    let stopping = RPCMessage.Failure(code: -32_010, message: "the broker stops")
    let refused = RPCMessage.Failure(
      code: -32_012,
      message: "destination_unknown: no such",
      data: error
    )
    let asked = try await with([.refuses(stopping), .refuses(refused)]) { client in
      let thrown = await #expect(throws: HandoffClientError.self) {
        try await client.send(request())
      }
      #expect(thrown?.kind == .refused && thrown?.code == .destinationUnknown)
      #expect(thrown?.retry == .afterFix)
      #expect(thrown?.description == "destination_unknown: no such")
    }
    #expect(asked.count == 2)
  }

  @Test("a broker that is not there is unreachable when the patience is over")
  func unreachable() async throws {
    let folder = try TemporaryFolder()
    let client = HandoffClient(state: folder.path.lossyText, patience: .milliseconds(200))
    let thrown = await #expect(throws: HandoffClientError.self) {
      try await client.submit(request())
    }
    #expect(thrown?.kind == .unreachable && thrown?.retry == .later)
  }

  @Test("every end of a handoff is an outcome, and none an error")
  func outcomes() async throws {
    let unknown = ResultError(.interrupted, "m", effect: .unknown)
    let none = ResultError(.quota, "m", effect: .none)
    let ends: [(String, [String: JSONValue], HandoffEnd.Outcome)] = [
      ("cancelled", [:], .cancelled(nil)),
      ("refused", failure("quota", side: "receiver", effect: "none"), .refused(none)),
      ("failed", failure("quota", side: "receiver", effect: "none"), .failed(none)),
      ("expired", [:], .expired(nil)),
      (
        "outcome_unknown", failure("interrupted", side: "broker", effect: "unknown"),
        .outcomeUnknown(unknown)
      ),
      ("needs_user", [:], .needsUser(nil)),
    ]
    for (status, more, outcome) in ends {
      _ = try await with([.answers(handoff(status, more))]) { client in
        let end = try await client.send(request())
        #expect(end.outcome == outcome && !end.isSuccess)
        #expect(end.error == outcome.reason)
      }
    }
  }

  @Test("what a document cannot hold is refused before anything is asked")
  func unsendable() async throws {
    var old = request()
    old.protocolVersion = 1
    old.title = "Day 1"
    let asked = try await with([]) { [old] client in
      let thrown = await #expect(throws: HandoffClientError.self) { try await client.send(old) }
      #expect(thrown?.code == .versionIncompatible)
    }
    #expect(asked.isEmpty)
  }

  @Test("a broker that takes the question and hangs up after a while is given up on, too")
  func flapping() async throws {
    let holding = [StandInBroker.Reaction](repeating: .holds(.milliseconds(1_100)), count: 6)
    let asked = try await with(holding, patience: .milliseconds(1_500)) { client in
      let thrown = await #expect(throws: HandoffClientError.self) { try await client.cancel("h7") }
      #expect(thrown?.kind == .unreachable)
    }
    #expect(asked.count == 3)
  }

  @Test(
    "a cancel whose reply was lost has succeeded where the handoff is cancelled, and only there"
  )
  func lostCancel() async throws {
    let ended = RPCMessage.Failure(code: -32_012, message: "h7 has ended")
    let asked = try await with([
      .hangsUp, .refuses(ended), .answers(handoff("cancelled")),
      .hangsUp, .refuses(ended), .answers(handoff("succeeded")),
      .refuses(ended),
    ]) { client in
      let stands = try await client.cancel("h7")
      #expect(stands.status == .cancelled)
      for _ in 1...2 {
        let thrown = await #expect(throws: HandoffClientError.self) {
          try await client.cancel("h7")
        }
        #expect(thrown?.kind == .refused)
      }
    }
    #expect(
      asked.map(\.method) == ["cancel", "cancel", "wait", "cancel", "cancel", "wait", "cancel"]
    )
  }

  @Test("cancel names the handoff and tells where it stands")
  func cancel() async throws {
    let asked = try await with([.answers(handoff("cancelled"))]) { client in
      let stands = try await client.cancel("h7")
      #expect(stands.status == .cancelled && stands.end?.outcome == .cancelled(nil))
    }
    #expect(asked.first?.parameters["handoff_id"]?.text == "h7")
  }
}

extension HandoffEnd.Outcome {
  fileprivate var reason: ResultError? {
    switch self {
    case .succeeded: nil
    case .refused(let error), .failed(let error): error
    case .cancelled(let error), .expired(let error), .outcomeUnknown(let error),
      .needsUser(let error):
      error
    }
  }
}
