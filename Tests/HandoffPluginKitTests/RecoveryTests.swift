import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import HandoffPluginKit

@Suite("After a crash or a restart", .timeLimit(.minutes(1)))
struct RecoveryTests {
  /// Leaves a handoff behind that was being worked on when the broker went away.
  private func interrupt<Served: Destination>(
    _ type: Served.Type,
    in work: TemporaryFolder,
    recording: Bool = false
  ) async throws {
    let gate = Gate()
    let script = Script { _, context in
      if recording { try await context.record("uploaded", .string("m1")) }
      try await gate.pass()
      return Receipt()
    }
    try await withSession(type, in: work) { broker in
      try await broker.discover(script.settings())
      #expect(try await broker.submit(handoff()).accepted)
      _ = await gate.arrival()
    }
  }

  @Test("a handoff that never came is not received")
  func neverCame() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(Script().settings())
      #expect(try await broker.reconcile(handoff()).map(\.standing) == [.notReceived])
    }
  }

  @Test("interrupted work that may not be repeated is unknown, and is not run again")
  func unknown() async throws {
    let work = try TemporaryFolder()
    try await interrupt(Plain.self, in: work)
    let script = Script { _, _ in
      Issue.record("ran again")
      return Receipt()
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      #expect(try await broker.reconcile(handoff()).map(\.standing) == [.unknown])
      // Submitted again as the same attempt, it ends with an unknown effect.
      #expect(try await broker.submit(handoff()).accepted)
      #expect(try await broker.nextResult().outcome.failure?.effect == .unknown)
    }
  }

  @Test("interrupted work that may be repeated is done again, by reconcile or probe")
  func redo() async throws {
    for asksByProbe in [false, true] {
      let work = try TemporaryFolder()
      try await interrupt(Repeatable.self, in: work)
      try await withSession(Repeatable.self, in: work) { broker in
        try await broker.discover(Script { _, _ in Receipt(["done": .bool(true)]) }.settings())
        let knowledge: HandoffKnowledge
        if asksByProbe {
          knowledge = try await broker.ask(.probe, handoff().reference)
        } else {
          knowledge = try await broker.reconcile(handoff())[0]
        }
        #expect(knowledge.standing == .working)
        #expect(try await broker.nextResult().outcome.output == ["done": .bool(true)])
      }
    }
  }

  @Test("the author is asked about interrupted work, with what was recorded")
  func resume() async throws {
    let work = try TemporaryFolder()
    try await interrupt(Plain.self, in: work, recording: true)
    var script = Script()
    script.resume = { handoff, context in
      #expect(handoff.title == "A title")
      #expect(context.stage?.name == "uploaded")
      return .finished(Receipt(["id": context.stage?.data ?? .null]))
    }
    let settings = script.settings()
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(settings)
      let knowledge = try await broker.reconcile(handoff())[0]
      #expect(knowledge.standing == .finished)
      #expect(knowledge.result?.outcome.output?["id"]?.text == "m1")
      #expect(knowledge.result?.state.revealed == "secret-of-h1")
      #expect(broker.received.isEmpty)
    }
  }

  @Test("a result that the broker did not answer is told by reconcile, and the work not repeated")
  func undelivered() async throws {
    let work = try TemporaryFolder()
    let gate = Gate()
    let script = Script { _, _ in
      // Goes on although it is cancelled, as a copy does in its last step.
      try? await gate.pass()
      return Receipt(["id": .string("kept")])
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      _ = try await broker.submit(handoff())
      _ = await gate.arrival()
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(Script { _, _ in throw CancellationError() }.settings())
      let knowledge = try await broker.reconcile(handoff())[0]
      #expect(knowledge.standing == .finished)
      #expect(knowledge.result?.outcome.output?["id"]?.text == "kept")
    }
  }

  @Test("shutdown leaves what runs for the next process")
  func shutdown() async throws {
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
      _ = try await broker.ask("shutdown")
      #expect(broker.received.isEmpty)
    }
    try await withSession(Repeatable.self, in: work) { broker in
      try await broker.discover(Script().settings())
      #expect(try await broker.reconcile(handoff())[0].standing == .working)
      _ = try await broker.nextResult()
    }
  }

  @Test("a damaged journal entry is unknown, never not received")
  func damaged() async throws {
    let work = try TemporaryFolder()
    try await interrupt(Repeatable.self, in: work)
    try DurableFile.write(Array("{\"handoff".utf8), to: work.entry("h1"))
    try await withSession(Repeatable.self, in: work) { broker in
      try await broker.discover(Script().settings())
      #expect(try await broker.reconcile(handoff())[0].standing == .unknown)
      #expect(try await broker.submit(handoff()).error?.effect == .unknown)
      // A person has it tried again.
      #expect(try await broker.submit(handoff(attempt: 2)).accepted)
      #expect(try await broker.nextResult().outcome.output != nil)
    }
  }

  @Test("what ended is forgotten after a month, but not how far that came of which nobody knows")
  func pruned() async throws {
    let work = try TemporaryFolder()
    let script = Script { handoff, context in
      try await context.record("publishing")
      guard handoff.id == "h2" else { return Receipt() }
      throw ResultError(.network, "no answer", effect: .unknown)
    }
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(script.settings())
      for id in ["h1", "h2"] {
        #expect(try await broker.submit(handoff(id)).accepted)
        _ = try await broker.nextResult()
      }
    }
    let month = Duration.seconds(31 * 86_400)
    let later = { @Sendable in PluginEnvironment.now().advanced(by: month) }
    try await withSession(Plain.self, in: work, now: later) { broker in
      let retry = Script { _, context in Receipt(["after": .string(context.stage?.name ?? "")]) }
      try await broker.discover(retry.settings())
      #expect(try FileStatus.of(work.entry("h1")) == nil)
      // A person has it tried again.
      #expect(try await broker.submit(handoff("h2", attempt: 2)).accepted)
      #expect(try await broker.nextResult().outcome.output == ["after": .string("publishing")])
    }
  }

  @Test("a foreign token learns nothing")
  func foreign() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { broker in
      try await broker.discover(Script().settings())
      _ = try await broker.submit(handoff())
      _ = try await broker.nextResult()
      let foreign = handoff(token: "somebody-else")
      let knowledge: HandoffKnowledge = try await broker.ask(.probe, foreign.reference)
      #expect(knowledge.standing == .unknown)
      #expect(knowledge.result == nil)
      let answer = try await broker.submit(foreign)
      #expect(answer.error?.code == .unknownState)
      #expect(answer.error?.effect == .unknown)
    }
  }

  @Test("a second process of the same destination waits until the first has ended")
  func lock() async throws {
    let work = try TemporaryFolder()
    try await withSession(Plain.self, in: work) { first in
      try await first.discover(Script().settings())
      let path = work.path.appending("lock")
      let file = try FileDescriptor.open(path, O_RDWR)
      #expect(flock(file.rawValue, LOCK_EX | LOCK_NB) == -1)
    }
    let file = try FileDescriptor.open(work.path.appending("lock"), O_RDWR)
    #expect(flock(file.rawValue, LOCK_EX | LOCK_NB) == 0)
  }
}
