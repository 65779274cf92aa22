import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests.Matrix {
  @Test("the server's limit is told beforehand, and kept", .timeLimit(.minutes(1)))
  func limits() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "large")
    let room = try await poster.room()
    let place = MatrixPlace("room", room, poster.token)
    try synapse.tell([poster.id: 20_000])
    try await MatrixPlace.run([place]) { scene in
      try await scene.writeLarge("large.mp4", number: 3, padding: 10_000, sparse: true)
      let asset = BytePath(try await scene.identifier(of: "large.mp4"))
      let ended = try await scene.broker.command(["send", asset, "--to", "room", "--dry-run"])
      #expect(ended.code == 4)
      #expect(ended.errors.contains("at most 20000 are taken"), "\(ended.errors)")
      _ = try await scene.broker.json("send", asset, "--to", "room")
      let handoff = try await scene.ended("room")
      #expect(handoff["error"]?["code"]?.text == "size_out_of_range", "\(handoff)")
      #expect(handoff["error"]?["effect"]?.text == "none")
    }
    #expect(try await poster.videos(in: room).isEmpty)
    #expect(try await poster.uploads() == 0)
  }

  @Test("a server that takes less than it tells, and a quota", .timeLimit(.minutes(1)))
  func untoldLimits() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "untold")
    let told: Int64 = 64 << 20
    try synapse.tell([poster.id: told])
    // Up to 13,107,200 bytes of a body are read, and then refused: 413.
    let refused = try await MatrixDelivery(poster, video: .pattern(1, count: 12_900_000))
    let refusal = try await refused.again().failure
    #expect(refusal?.code == .sizeOutOfRange, "\(refusal as Any)")
    #expect(refusal?.effect == Effect.none)
    // Of more, the connection is cut.
    let cut = try await MatrixDelivery(poster, video: .pattern(2, count: 16_000_000))
    let broken = try await cut.again().failure
    #expect(broken?.code == .network, "\(broken as Any)")
    #expect(broken?.message.contains("the server takes \(told) bytes") == true)
    #expect(broken?.effect == Effect.none)
    // The limit was lowered while it was on its way.
    let lowered = try await MatrixDelivery(poster, video: .pattern(2, count: 16_000_000))
    let late = try await lowered.plugin.run(fault: "http.send:\(MatrixDelivery.upload):stop") {
      broker,
      process in
      try await lowered.begin(broker)
      try await StoppedProcess.wait(for: process.id)
      try synapse.tell()
      kill(process.id, SIGCONT)
      return try await broker.nextResult().outcome.failure
    }
    #expect(late?.code == .sizeOutOfRange, "\(late as Any)")
    #expect(late?.message.contains("the server takes \(Synapse.uploadLimit)") == true)
    // So many bytes an hour.
    try synapse.tell(quotas: [poster.id: 40_000])
    let first = try await MatrixDelivery(poster)
    try await first.expectOne(try await first.again())
    let second = try await MatrixDelivery(poster)
    let quota = try await second.again().failure
    #expect(quota?.code == .quota, "\(quota as Any)")
    #expect(quota?.retry == .later)
    #expect(quota?.effect == Effect.none)
    try synapse.tell()
    try await second.expectOne(try await second.again(attempt: 3))
  }

  @Test("a limit on messages is waited for as the server says", .timeLimit(.minutes(1)))
  func rateLimit() async throws {
    let synapse = try Synapse.shared
    let poster = try await MatrixUser.make(synapse, "limited")
    let room = try await poster.room()
    try await MatrixPlace.run([MatrixPlace("room", room, poster.token)]) { scene in
      try scene.write(try await Scene.video(4), to: "clip.mp4")
      let asset = BytePath(try await scene.identifier(of: "clip.mp4"))
      // Of one message now, and none for four seconds.
      try await poster.limit()
      try await poster.say("the one message", in: room, id: "first")
      _ = try await scene.broker.json("send", asset, "--to", "room")
      let waiting = try await scene.broker.wait("handoffs", every: .milliseconds(20)) {
        $0.elements.first?["waiting"]?["reason"]?.text == "backoff"
          || $0.elements.first?["status"]?.text == "succeeded"
      }
      let error = waiting.elements.first?["error"]
      #expect(error?["code"]?.text == "quota", "\(waiting)")
      #expect(error?["message"]?.text?.contains("M_LIMIT_EXCEEDED") == true)
      let handoff = try await scene.ended("room")
      #expect(handoff["status"]?.text == "succeeded", "\(handoff)")
      // A try too early would have made the wait longer.
      #expect(handoff["attempts"]?.integer == 2)
      #expect(try await poster.uploads() == 1)
    }
    #expect(try await poster.videos(in: room).count == 1)
  }
}
