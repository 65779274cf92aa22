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
        let output = try #require(handoff["result"]?["output"])
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

    private static let sidecar = """
      title = "Ein <Titel> – ünïcödé"
      description = "Two\\nlines"
      tags = ["hand off", "test"]
      """
  }
}
