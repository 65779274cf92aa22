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
