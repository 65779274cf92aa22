import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// Synapse 1.163, and the social plugin as the broker runs it.
  @Suite("Matrix", .serialized, .sharedSynapse)
  struct Matrix {
    @Test("a video is published once, whole, with its words", .timeLimit(.minutes(1)))
    func publishes() async throws {
      let poster = try await MatrixUser.make(try Synapse.shared, "poster")
      let room = try await poster.room(alias: "videos")
      let place = MatrixPlace("room", "#videos:\(Synapse.name)", poster.token)
      try await MatrixPlace.run([place], handoff: ["room"]) { scene in
        let video = try await Scene.video(1)
        try scene.write(Array(Self.sidecar.utf8), to: "clip.mp4.handoff.toml")
        try scene.write(video, to: "clip.mp4")
        let handoff = try await scene.ended("room")
        #expect(handoff["status"]?.text == "succeeded", "\(handoff)")
        let event = try #require(try await poster.videos(in: room).first)
        #expect(try await poster.videos(in: room).count == 1)
        let content = try #require(event["content"])
        #expect(content["msgtype"]?.text == "m.video")
        #expect(content["filename"]?.text == "Ein _Titel_ – ünïcödé.mp4")
        #expect(content["body"]?.text == "Ein <Titel> – ünïcödé\n\nTwo\nlines\n\n#HandOff #test")
        let formatted = "<strong>Ein &lt;Titel&gt; – ünïcödé</strong><br><br>Two<br>lines<br><br>"
        #expect(content["formatted_body"]?.text == formatted + "#HandOff #test")
        let info = content["info"]
        #expect(info?["mimetype"]?.text == "video/mp4")
        #expect(info?["size"]?.integer == Int64(video.count))
        #expect(info?["w"]?.integer == 320)
        #expect(info?["h"]?.integer == 240)
        #expect(abs((info?["duration"]?.integer ?? 0) - 2000) < 100)
        #expect(content["handoff.key"]?.text?.count == 64)
        let uri = try content.text(of: "url")
        #expect(try await poster.download(uri) == video)
        let output = try #require(handoff["output"])
        let id = try event.text(of: "event_id")
        #expect(output["id"]?.text == id)
        #expect(output["mxc"]?.text == uri)
        #expect(output["url"]?.text?.hasPrefix("https://matrix.to/#/%21") == true)
        #expect(output["url"]?.text?.hasSuffix("?via=\(Synapse.name)") == true)
        // The same transaction id gives the same event, whatever is sent with it.
        let key = try content.text(of: "handoff.key")
        #expect(try await poster.say("again", in: room, id: key) == id)
        let log = try scene.broker.wholeLog
        #expect(!log.contains(poster.token))
      }
    }

    @Test("what cannot be published is refused before a byte is sent", .timeLimit(.minutes(1)))
    func refusals() async throws {
      let synapse = try Synapse.shared
      let poster = try await MatrixUser.make(synapse, "refused")
      let owner = try await MatrixUser.make(synapse, "owner")
      let strange = try await owner.room()
      let quiet = try await owner.room(powerForMessages: 50)
      try await poster.join(quiet)
      let places = [
        MatrixPlace("token", strange, "not-a-token"), MatrixPlace("strange", strange, poster.token),
        MatrixPlace("quiet", quiet, poster.token),
        MatrixPlace("secret", try await poster.room(isEncrypted: true), poster.token),
        MatrixPlace("nowhere", "#nowhere:\(Synapse.name)", poster.token),
      ]
      try await MatrixPlace.run(places, handoff: places.map(\.name)) { scene in
        try scene.write(try await Scene.video(2), to: "clip.mp4")
        for (name, code) in [
          ("token", "auth"), ("strange", "auth"), ("quiet", "auth"), ("secret", "not_configured"),
          ("nowhere", "not_configured"),
        ] {
          let handoff = try await scene.ended(name)
          #expect(handoff["status"]?.text == "failed", "\(handoff)")
          #expect(handoff["error"]?["code"]?.text == code, "\(handoff)")
          #expect(handoff["error"]?["effect"]?.text == "none")
          #expect(handoff["error"]?["remedy"]?.text?.isEmpty == false)
        }
        let secret = try await scene.ended("secret")
        #expect(secret["error"]?["message"]?.text?.contains("cannot encrypt") == true)
        #expect(try await poster.uploads() == 0)
        // Mended, and tried again.
        try await poster.join(strange)
        let strange = try await scene.ended("strange")
        _ = try await scene.broker.json("retry", BytePath(try strange.text(of: "id")))
        _ = try await scene.broker.wait("show", BytePath(try strange.text(of: "id"))) {
          $0["status"]?.text == "succeeded"
        }
      }
      #expect(try await owner.videos(in: strange).count == 1)
      #expect(try await owner.videos(in: quiet).isEmpty)
    }

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

    @Test("account, room and limits are looked at for doctor; discovery", .timeLimit(.minutes(1)))
    func checks() async throws {
      let synapse = try Synapse.shared
      let poster = try await MatrixUser.make(synapse, "checked")
      let body = Array("{\"m.homeserver\":{\"base_url\":\"\(synapse.url)/\"}}".utf8)
      let domain = try LoopbackServer { request in
        request.target == "/.well-known/matrix/client"
          ? .reply(200, body: body) : .reply(404)
      }
      defer { domain.stop() }
      let delivery = try await MatrixDelivery(poster, server: domain.url)
      let checks = try await Self.checks(delivery)
      #expect(checks.map(\.name) == ["reachable", "credentials", "limits"])
      #expect(checks.allSatisfy { $0.passed }, "\(checks)")
      #expect(checks[1].detail.contains("\(poster.id), who can publish"))
      #expect(checks[2].detail.contains("\(Synapse.uploadLimit) bytes"))
      #expect(domain.requests.allSatisfy { $0.headers["authorization"] == nil })
      try await delivery.expectOne(try await delivery.again())
      let secret = try await MatrixDelivery(
        poster,
        room: try await poster.room(isEncrypted: true)
      )
      let failed = try await Self.checks(secret).filter { !$0.passed }
      #expect(failed.map(\.name) == ["credentials"])
      #expect(failed.first?.detail.contains("is encrypted") == true)
    }

    private static func checks(_ delivery: MatrixDelivery) async throws -> [DestinationCheck] {
      try await delivery.plugin.run { broker, _ in
        let answer: StatusAnswer = try await broker.ask(.status, StatusQuestion(checks: true))
        return answer.checks ?? []
      }
    }

    private static let sidecar = """
      title = "Ein <Titel> – ünïcödé"
      description = "Two\\nlines"
      tags = ["hand off", "test"]
      """
  }
}
