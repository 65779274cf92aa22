import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A recording and its remux, with the broker's own process (CASE 51), and what writers leave (CASE 5).
@Suite("Recordings and their remuxes")
struct PreferTests {
  private static func configuration(_ folder: String, original: String = "keep") -> String {
    Scene.configuration(
      folder: "original = \"\(original)\"\n\(folder)",
      handoff: ["keep"],
      destinations: "[destination.keep]\ntransport = \"exec\"\ncommand = [\"/bin/true\"]\n"
    )
  }

  @Test(
    "Case 51: with the rule one import, of the remux, also after a restart",
    .timeLimit(.minutes(2)),
    arguments: ["keep", "remove"]
  )
  func remux(original: String) async throws {
    let text = Self.configuration("prefer = [\"mp4\"]", original: original)
    try await Scene.run(text) { scene in
      let raw = scene.exports.appending("rec.mkv")
      let sample = try await SampleVideo.matroska.path()
      try #require(await shell("cp '\(sample)' '\(raw)'") == 0)
      let why = try await scene.broker.wait("why", raw) {
        $0["reason"]?.text?.contains("prefer_wait") == true
      }
      #expect(why["state"]?.text == "waiting_quiet")
      let remux = scene.exports.appending("rec.mp4")
      let line = "ffmpeg -nostdin -v error -i '\(raw)' -c copy -strict -2 '\(remux)'"
      try #require(await shell(line) == 0)
      _ = try await scene.broker.wait("why", raw) { $0["state"]?.text == "ignored" }
      let assets = try await scene.broker.json("assets").elements
      #expect(assets.count == 1)
      #expect(assets.first?["container"]?.text?.contains("mp4") == true)
      await scene.broker.end(SIGKILL)
      try await scene.broker.start()
      let again = try await scene.broker.wait("why", raw) { $0["state"]?.text == "ignored" }
      #expect(again["reason"]?.text == "rec.mp4 was preferred")
      #expect(try await scene.broker.json("assets").elements.count == 1)
      #expect(try await scene.broker.json("handoffs").elements.count == 1)
    }
  }

  @Test("Case 51: a recording without a remux is imported in the end", .timeLimit(.minutes(1)))
  func alone() async throws {
    let text = Self.configuration("prefer = [\"mp4\"]\nprefer_wait = \"2s\"")
    try await Scene.run(text) { scene in
      let raw = scene.exports.appending("rec.mkv")
      let sample = try await SampleVideo.matroska.path()
      try #require(await shell("cp '\(sample)' '\(raw)'") == 0)
      _ = try await scene.broker.wait("why", raw) { $0["state"]?.text == "imported" }
    }
  }

  @Test(
    "Case 51: a recording that is newer than the imported remux of its name is imported too",
    .timeLimit(.minutes(1))
  )
  func newer() async throws {
    let text = Self.configuration("prefer = [\"mp4\"]\nprefer_wait = \"1s\"")
    try await Scene.run(text) { scene in
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      let raw = scene.exports.appending("cut.mkv")
      let sample = try await SampleVideo.matroska.path()
      try #require(await shell("cp '\(sample)' '\(raw)'") == 0)
      _ = try await scene.broker.wait("why", raw) { $0["state"]?.text == "imported" }
      #expect(try await scene.broker.json("handoffs").elements.count == 2)
    }
  }

  @Test(
    "Case 51: a change of mode does not make a recording newer than its imported remux",
    .timeLimit(.minutes(1))
  )
  func modeChanged() async throws {
    let text = Self.configuration("prefer = [\"mp4\"]\nprefer_wait = \"1s\"", original: "remove")
    try await Scene.run(text) { scene in
      let sample = try await SampleVideo.matroska.path()
      let raw = scene.exports.appending("r.mkv")
      let remux = try await Scene.video(1)
      try #require(await shell("cp '\(sample)' '\(raw)'") == 0)
      try scene.write(remux, to: "r.mp4")
      let why = try await scene.broker.wait("why", raw) {
        ["ignored", "imported"].contains($0["state"]?.text)
      }
      try #require(why["state"]?.text == "ignored")
      try checked("chmod") { chmod(raw.nulTerminated, 0o640) }
      // This is changed later and waits as long, so what the change of mode causes comes before it.
      try scene.write(try await Scene.video(2), to: "z.mov")
      let handoffs = try await scene.broker.wait("handoffs") { $0.elements.count >= 2 }
      #expect(handoffs.elements.count == 2)
      let again = try await scene.broker.wait("why", raw) { $0["state"]?.text == "ignored" }
      #expect(again["reason"]?.text == "r.mp4 was preferred")
    }
  }

  @Test(
    "Case 5: rsync's file is taken once, and what lies there is listed",
    .timeLimit(.minutes(1))
  )
  func scratchFiles() async throws {
    let text = Self.configuration("") + "[writer.encoder]\ntemporary = [\"*.encoding.mp4\"]\n"
    try await Scene.run(text) { scene in
      let video = try await Scene.video(1)
      for name in ["e.mp4.tmp", "f.mp4.crdownload", ".g.mp4.AbC123", "~h.mp4", "i.encoding.mp4"] {
        try scene.write(video, to: BytePath(name))
      }
      let source = scene.broker.root.appending("d.mp4")
      try DurableFile.write(video, to: source, permissions: 0o644)
      let line = "rsync --bwlimit=200 '\(source)' '\(scene.exports.appending("d.mp4"))'"
      try #require(await shell(line) == 0)
      _ = try await scene.broker.wait("handoffs") { $0.elements.count == 1 }
      let status = try await scene.broker.json("status")
      let ignored = (status["candidates"]?.elements ?? []).filter {
        $0["state"]?.text == "ignored"
      }
      let reasons = Set(ignored.compactMap { $0["reason"]?.text })
      #expect(reasons.contains("a temporary name of rsync: .*.??????"))
      #expect(reasons.contains("a temporary name of encoder: *.encoding.mp4"))
      #expect(ignored.count == 5)
      #expect(try await scene.broker.json("assets").elements.count == 1)
    }
  }
}
