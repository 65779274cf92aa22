import Glibc
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

/// `http` destinations whose response is the answer.
@Suite("HTTP with answer = status", .timeLimit(.minutes(2)))
struct HTTPStatusTests {
  @Test("2xx is success; the request is signed, and the grant is not the token")
  func success() async throws {
    try await HTTPScene.run(answer: "status", behaviour: HookReceiver.answering(.reply(204))) {
      scene in
      try await scene.send()
      try await scene.wait(for: "succeeded")
      let delivery = try await scene.receiver.first()
      #expect(delivery.isSigned)
      let grant = try #require(delivery.grant)
      #expect(!grant.contains(delivery.request.state.revealed))
      #expect(delivery.assets == (try scene.broker.api) + "/v3/assets")
    }
  }

  @Test("a result document in the response decides")
  func document() async throws {
    let behaviour: HookReceiver.Behaviour = { delivery in
      let error = ResultError(.quota, "enough for today", effect: .none, retry: .never)
      let result = HandoffResult(state: delivery.request.state, outcome: .failure(error))
      return .reply(200, body: (try? WireCoder.encode(result)) ?? [])
    }
    let never = "retry = { for = \"0s\" }"
    try await HTTPScene.run(answer: "status", more: never, behaviour: behaviour) { scene in
      try await scene.send()
      let handoff = try await scene.wait(for: "failed")
      #expect(handoff["error"]?["code"]?.text == "quota")
    }
  }

  @Test("503 is tried again, not before Retry-After, under the same id and token")
  func unavailable() async throws {
    let count = Atomic(0)
    let behaviour: HookReceiver.Behaviour = { _ in
      let number = count.add(1, ordering: .relaxed).newValue
      return number < 3 ? .reply(503, headers: [("Retry-After", "1")]) : .reply(200)
    }
    let soon = "retry = { for = \"1m\", first = \"10ms\", max = \"10ms\" }"
    try await HTTPScene.run(answer: "status", more: soon, behaviour: behaviour) { scene in
      let start = ContinuousClock.now
      try await scene.send()
      let handoff = try await scene.wait(for: "succeeded")
      #expect(start.duration(to: .now) >= .seconds(2))
      #expect(handoff["attempts"] == .integer(3))
      let deliveries = try scene.receiver.deliveries
      #expect(Set(deliveries.map(\.id)).count == 1)
      #expect(Set(deliveries.map(\.request.state.revealed)).count == 1)
    }
  }

  @Test("a refused connection waits, and the receiver that comes up gets it")
  func refusedConnection() async throws {
    let soon = "retry = { for = \"1m\", first = \"50ms\", max = \"50ms\" }"
    try await HTTPScene.run(
      answer: "status",
      more: soon,
      behaviour: HookReceiver.answering(.reply(200))
    ) {
      scene in
      scene.receiver.stop()
      try await scene.send()
      let waiting = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.first?["error"]?["effect"]?.text == "none"
      }
      #expect(waiting.elements.first?["error"]?["code"]?.text == "destination_unavailable")
      let back = try HookReceiver(port: scene.receiver.port) { _ in .reply(200) }
      try await scene.wait(for: "succeeded")
      #expect(try back.deliveries.count == 1)
      back.stop()
    }
  }

  @Test("an answer that does not come is an unknown outcome, and never tried again")
  func silence() async throws {
    let limits = "idle = \"1s\"\nretry = { for = \"1m\", first = \"10ms\", max = \"10ms\" }"
    try await HTTPScene.run(
      answer: "status",
      more: limits,
      behaviour: HookReceiver.answering(.silence)
    ) { scene in
      try await scene.send()
      let handoff = try await scene.wait(for: "outcome_unknown")
      #expect(handoff["error"]?["effect"]?.text == "unknown")
      let status = try await scene.broker.json("status")
      #expect(status["destinations"]?.elements.first?["status"]?.text == "down")
      // It may be at work still.
      let delivery = try await scene.receiver.first()
      #expect(try await scene.receiver.read(delivery).status == 200)
      // A second one to another effect shows that time has passed and nothing was sent twice.
      try await scene.send(2)
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 2
          && handoffs.elements.allSatisfy { $0["status"]?.text == "outcome_unknown" }
      }
      #expect(try scene.receiver.deliveries.count == 2)
    }
  }

  @Test("a redirect is not followed, and refuses")
  func redirect() async throws {
    let elsewhere = try HookReceiver { _ in .reply(200) }
    defer { elsewhere.stop() }
    let url = elsewhere.url
    let behaviour: HookReceiver.Behaviour = { _ in .reply(307, headers: [("Location", url)]) }
    try await HTTPScene.run(answer: "status", behaviour: behaviour) { scene in
      try await scene.send()
      let ended = try await scene.broker.wait("handoffs") { handoffs in
        ["failed", "refused", "outcome_unknown"]
          .contains(handoffs.elements.first?["status"]?.text ?? "")
      }
      #expect(ended.elements.count == 1)
      #expect(try elsewhere.deliveries.isEmpty)
      #expect(try scene.receiver.deliveries.count == 1)
    }
  }

  @Test("410 disables the destination over a restart, until its address is changed")
  func gone() async throws {
    try await HTTPScene.run(answer: "status", behaviour: HookReceiver.answering(.reply(410))) {
      scene in
      try await scene.send()
      _ = try await scene.broker.wait("status") { status in
        status["destinations"]?.elements.first?["status"]?.text == "circuit_open"
      }
      try await scene.send(2)
      try await scene.restart()
      let status = try await scene.broker.wait("status") { status in
        status["destinations"]?.elements.first?["status"]?.text == "circuit_open"
      }
      #expect(status["destinations"]?.elements.first?["detail"]?.text?.contains("410") == true)
      #expect(try scene.receiver.deliveries.count == 1)
      let other = try HookReceiver { _ in .reply(200) }
      defer { other.stop() }
      try await scene.restart(with: HTTPScene.configuration(other.url, answer: "status"))
      _ = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == 2
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
    }
  }

  @Test("an attempt that the broker's end has cut off is an unknown outcome")
  func interrupted() async throws {
    try await HTTPScene.run(answer: "status", behaviour: HookReceiver.answering(.silence)) {
      scene in
      try await scene.send()
      _ = try await scene.receiver.first()
      try await scene.restart(SIGKILL)
      let handoff = try await scene.wait(for: "outcome_unknown")
      #expect(handoff["error"]?["code"]?.text == "interrupted")
      #expect(try scene.receiver.deliveries.count == 1)
    }
  }
}
