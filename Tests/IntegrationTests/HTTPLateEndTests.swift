import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Testing

/// A response that comes after the signed result of its attempt, when another attempt has begun.
@Suite("HTTP: the late end of an attempt", .timeLimit(.minutes(2)))
struct HTTPLateEndTests {
  @Test("the late response of the first attempt does not end the second, and nothing is sent again")
  func lateResponse() async throws {
    var ends: [CInt] = [-1, -1]
    _ = try checked("pipe") { pipe(&ends) }
    let gate = ends
    defer { for end in gate { close(end) } }
    let behaviour: HookReceiver.Behaviour = { delivery in
      guard delivery.request.attempt == 1 else { return .reply(202) }
      // Until the test writes.
      var byte: UInt8 = 0
      _ = read(gate[0], &byte, 1)
      return .reply(503)
    }
    let soon = "retry = { for = \"1m\", first = \"10ms\", max = \"10ms\" }"
    try await HTTPScene.run(answer: "callback", more: soon, behaviour: behaviour) { scene in
      try await scene.send()
      let first = try await scene.receiver.first()
      let busy = ResultError(.destinationUnavailable, "later", effect: .none, retry: .later)
      let result = HandoffResult(state: first.request.state, outcome: .failure(busy))
      let broker = scene.broker
      let answer = try await scene.receiver.bring(try WireCoder.encode(result), to: broker)
      #expect(answer.status == 200)
      try await scene.wait(for: "accepted")
      #expect(try scene.receiver.deliveries.map(\.request.attempt) == [1, 2])
      _ = try checked("write") { write(gate[1], "\n", 1) }
      let isDropped = try await poll {
        try broker.wholeLog.contains("after the end of its attempt") ? true : nil
      }
      #expect(isDropped == true)
      try await scene.wait(for: "accepted")
      #expect(try scene.receiver.deliveries.count == 2)
      #expect(try await scene.receiver.succeed(first, at: broker).status == 200)
      try await scene.wait(for: "succeeded")
    }
  }
}
