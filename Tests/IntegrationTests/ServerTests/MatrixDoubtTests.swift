import HandoffProtocol
import HandoffTestSupport
import Testing

extension ServerTests.Matrix {
  @Test("its answer lost and its token replaced, the message is found", .timeLimit(.minutes(1)))
  func tokenReplaced() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "replaced")
    let delivery = try await MatrixDelivery(poster)
    try await delivery.die(at: "http.answer:\(MatrixDelivery.requests):kill")
    let other = try await MatrixUser.login(synapse, "replaced")
    _ = try await poster.ask("POST", "/_matrix/client/v3/logout", .object([:]))
    let found = try await delivery.again(delivery.plugin(with: other))
    #expect(found.output != nil, "\(found)")
    let videos = try await other.videos(in: delivery.room)
    #expect(videos.count == 1)
    #expect(found.output?["id"]?.text == videos.first?["event_id"]?.text)
  }

  @Test("a message that was removed is not published again", .timeLimit(.minutes(1)))
  func redacted() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "redacted")
    for isReplaced in [false, true] {
      let delivery = try await MatrixDelivery(poster)
      try await delivery.die(at: "http.answer:\(MatrixDelivery.requests):kill")
      let event = try await poster.videos(in: delivery.room)[0].text(of: "event_id")
      try await poster.redact(event, in: delivery.room)
      let user = isReplaced ? try await MatrixUser.login(synapse, "redacted") : poster
      let outcome = try await delivery.again(delivery.plugin(with: user))
      if isReplaced {
        // Which message it was is not to be known from another device.
        #expect(outcome.failure?.effect == .unknown, "\(outcome)")
      } else {
        #expect(outcome.output?["id"]?.text == event, "\(outcome)")
      }
      #expect(try await poster.videos(in: delivery.room).isEmpty)
    }
  }

  @Test(
    "another account, to which the room does not show what was before it, proves nothing",
    .timeLimit(.minutes(1)),
    arguments: ["http.answer", "http.send"]
  )
  func otherAccount(point: String) async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "former")
    let delivery = try await MatrixDelivery(
      poster,
      room: try await poster.room(historyVisibility: "joined")
    )
    try await delivery.die(at: "\(point):\(MatrixDelivery.requests):kill")
    let other = try await MatrixUser.make(synapse, "latter")
    try await other.join(delivery.room)
    let outcome = try await delivery.again(delivery.plugin(with: other))
    #expect(outcome.failure?.effect == .unknown, "\(outcome)")
    let count = try await poster.videos(in: delivery.room).count
    #expect(count == (point == "http.answer" ? 1 : 0))
  }
}
