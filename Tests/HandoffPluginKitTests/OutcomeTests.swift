import HandoffPluginKit
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("How handoffs end", .timeLimit(.minutes(1)))
struct OutcomeTests {
  private struct Oops: Error {}

  private func outcome<Served: Destination>(
    _ type: Served.Type,
    _ script: Script,
    prepare: @Sendable (TestBroker) -> Void = { _ in }
  ) async throws -> HandoffResult.Outcome {
    let work = try TemporaryFolder()
    return try await withSession(type, in: work) { broker in
      prepare(broker)
      try await broker.discover(script.settings())
      #expect(try await broker.submit(handoff()).accepted)
      return try await broker.nextResult().outcome
    }
  }

  @Test("a typed error is told as it is")
  func typed() async throws {
    let error = ResultError(.auth, "no", effect: .none, retry: .afterFix, remedy: "log in")
    let ended = try await outcome(Plain.self, Script { _, _ in throw error })
    #expect(ended.failure == error)
  }

  @Test("any other error has an unknown effect, unless the work may be repeated")
  func untyped() async throws {
    let script = Script { _, _ in throw Oops() }
    let plain = try await outcome(Plain.self, script)
    #expect(plain.failure?.effect == .unknown)
    #expect(plain.failure?.retry == .never)
    let repeatable = try await outcome(Repeatable.self, script)
    #expect(repeatable.failure?.effect == Effect.none)
    #expect(repeatable.failure?.retry == .later)
  }

  @Test("an error too long for a result document is cut")
  func long() async throws {
    let message = String(repeating: "x", count: 100_000)
    let script = Script { _, _ in throw ResultError(.network, message, effect: .none) }
    #expect(try await outcome(Plain.self, script).failure?.message.count == 1000)
  }

  @Test("the broker's reason for refusing an asset reaches the result")
  func refused() async throws {
    let script = Script { handoff, context in
      _ = try await context.resolve(handoff.localIdentifiers[0])
      return Receipt()
    }
    let failure = try await outcome(Plain.self, script).failure
    #expect(failure?.code == .assetMissing)
    #expect(failure?.localIdentifier == identifier(1))
  }

  @Test("a granted path keeps every byte of the export's name")
  func bytes() async throws {
    let path = BytePath(Array("/grants/caf".utf8) + [0xE9, 0x0A] + Array(".mp4".utf8))
    let script = Script { handoff, context in
      let asset = try await context.resolve(handoff.localIdentifiers[0])
      return Receipt(["path": .array(asset.path.bytes.map { .integer(Int64($0)) })])
    }
    let ended = try await outcome(Plain.self, script) { broker in
      broker.grant(identifier(1), ResolvedAsset(at: path, sha256: digest(1), size: 10))
    }
    #expect(ended.output?["path"] == .array(path.bytes.map { .integer(Int64($0)) }))
  }

  @Test(
    "an asset that the destination does not take is refused after it is resolved",
    arguments: [
      (ErrorCode.sizeOutOfRange, Int64(1001), 5.0, "h264"),
      (.durationOutOfRange, 10, 61.0, "h264"),
      (.unsupportedMedia, 10, 5.0, "vp9"),
    ]
  )
  func constraints(code: ErrorCode, size: Int64, duration: Double, codec: String) async throws {
    var asset = ResolvedAsset(path: "/grants/a.mp4", sha256: digest(1), size: size)
    asset.duration = duration
    asset.videoCodec = codec
    let script = Script { handoff, context in
      _ = try await context.resolve(handoff.localIdentifiers[0])
      return Receipt()
    }
    let ended = try await outcome(Plain.self, script) { [asset] in $0.grant(identifier(1), asset) }
    #expect(ended.failure?.code == code)
    #expect(ended.failure?.effect == Effect.none)
    #expect(ended.failure?.localIdentifier == identifier(1))
  }

  @Test("a rendition is registered for its asset under the request's token, in any bytes")
  func renditions() async throws {
    let work = try TemporaryFolder()
    let path = BytePath(Array("/made/caf".utf8) + [0xE9] + Array(".mp4".utf8))
    let script = Script { handoff, context in
      let name = known(RenditionName("proxy"))
      do {
        try await context.register(name, path, of: handoff.localIdentifiers[0])
        return Receipt(["registered": .bool(true)])
      } catch is RegisteringUnsupported {
        return Receipt(["registered": .bool(false)])
      }
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      _ = try await broker.submit(handoff())
      #expect(try await broker.nextResult().outcome.output?["registered"] == .bool(true))
      let told = try #require(broker.renditions.first)
      #expect(told.name.text == "proxy")
      #expect(told.localIdentifier == identifier(1))
      #expect(told.state.matches(handoff().request.state))
      #expect(told.pathBytes.flatMap { BytePath(base64: $0) } == path)
      // A broker of an earlier release says that it does not know the message.
      broker.takeNoRenditions()
      _ = try await broker.submit(handoff("h2"))
      #expect(try await broker.nextResult().outcome.output?["registered"] == .bool(false))
    }
  }

  @Test("progress is told, in bounds and not too often")
  func progress() async throws {
    let work = try TemporaryFolder()
    let script = Script { _, context in
      for step in 0...1000 { await context.progress(Double(step), "step") }
      return Receipt()
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      _ = try await broker.submit(handoff())
      _ = try await broker.nextResult()
      let told = broker.progress
      #expect(told.first?.fraction == 0)
      #expect(told.allSatisfy { $0.fraction ?? 0 <= 1 })
      #expect(told.count < 1000)
    }
  }

  @Test("a result that the broker cannot take now is told again, one that it refuses is not")
  func refusedResults() async throws {
    for (retry, times) in [(RetryAdvice.later, 2), (.never, 1)] {
      let work = try TemporaryFolder()
      try await withSession(Plain.self, in: work) { broker in
        try await broker.discover(Script().settings())
        broker.refuseResult(ResultError(.alreadyConsumed, "no", effect: .none, retry: retry))
        _ = try await broker.submit(handoff())
        for await _ in broker.results.prefix(times) {}
        #expect(broker.received.count == times)
      }
    }
  }

  @Test("cancelling a running handoff cancels its task")
  func cancelRunning() async throws {
    let work = try TemporaryFolder()
    let gate = Gate()
    let script = Script { _, _ in
      try await gate.pass()
      return Receipt()
    }
    try await withSession(Repeatable.self, in: work) { broker in
      try await broker.discover(script.settings())
      _ = try await broker.submit(handoff())
      _ = await gate.arrival()
      let _: HandoffKnowledge = try await broker.ask(.cancel, handoff().reference)
      guard case .cancelled(let error) = try await broker.nextResult().outcome else {
        Issue.record("not cancelled")
        return
      }
      #expect(error?.effect == Effect.none)
    }
  }

  @Test("cancelling a handoff that waits ends it before it runs; a foreign token cancels nothing")
  func cancelWaiting() async throws {
    let work = try TemporaryFolder()
    let gate = Gate()
    let script = Script { handoff, _ in
      try await gate.pass(handoff.id)
      return Receipt(["ran": .string(handoff.id)])
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      for id in ["a", "b", "c"] { _ = try await broker.submit(handoff(id)) }
      let foreign = HandoffReference(handoffID: "c", state: StateToken("other")!)
      let knowledge: HandoffKnowledge = try await broker.ask(.cancel, foreign)
      #expect(knowledge.standing == .unknown)
      let _: HandoffKnowledge = try await broker.ask(.cancel, handoff("c").reference)
      let first = try await broker.nextResult()
      #expect(first.state.revealed == "secret-of-c")
      #expect(first.outcome == .cancelled(nil))
      gate.open()
      _ = try await broker.nextResult()
      _ = try await broker.nextResult()
    }
  }
}
