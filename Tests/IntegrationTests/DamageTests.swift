import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Objects that are no longer what they were.
@Suite("Damaged objects", .timeLimit(.minutes(3)))
struct DamageTests {
  @Test(
    "Case 70: an object with other bytes is never handed off, and the export dropped again repairs it",
    arguments: [false, true]
  )
  func damaged(isHidden: Bool) async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let identifier = try #require(asset["local_identifier"]?.text)
      let object = try scene.object(asset)
      try scene.flip(object, keepingTimes: isHidden)
      if isHidden {
        // Nothing but reading finds it: the schedule's work, done by hand.
        let (code, report) = try await scene.ask("fsck")
        #expect(code == 1)
        #expect(report.kinds == ["damaged"])
        #expect(report["findings"]?.elements[0]["path"]?.text == object.lossyText)
      }
      let (code, refused) = try await scene.ask(
        "send",
        BytePath(identifier),
        "--to",
        "script",
        "--again",
        "--wait"
      )
      #expect(code == 4)
      #expect(refused.elements.first?["error"]?["code"]?.text == "asset_damaged")
      #expect(try scene.received() == 1)
      #expect(
        try await scene.ask("show", BytePath(identifier)).document["status"]?.text == "damaged"
      )
      let status = try await scene.ask("status").document
      #expect(status["library"]?["damaged"] == .integer(1))
      #expect(try FileStatus.of(object) != nil, "it is reported, never deleted")

      try scene.write(try await Scene.video(1), to: "again.mp4")
      let path = scene.exports.appending("again.mp4").lossyText
      let repaired = try await scene.broker.wait("assets") { $0.elements[0].names(path) }
      #expect(repaired.elements.count == 1)
      #expect(repaired.elements[0]["local_identifier"]?.text == identifier)
      #expect(repaired.elements[0]["status"]?.text == "present")
      #expect(try Directory.entries(of: scene.library.appending("set-aside")).count == 1)
      let again = try await scene.ask(
        "send",
        BytePath(identifier),
        "--to",
        "script",
        "--again",
        "--wait"
      )
      #expect(again.code == 0)
      #expect(try scene.received() == 2)
      #expect(try await scene.ask("fsck").code == 0)
    }
  }

  @Test("an object that is gone is missing, not handed off, and present again when it is back")
  func missing() async throws {
    try await Scene.withReceiver { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      let identifier = BytePath(try #require(asset["local_identifier"]?.text))
      let object = try scene.object(asset)
      let elsewhere = scene.broker.root.appending("elsewhere")
      try DurableFile.rename(object, to: elsewhere)
      let send: [BytePath] = ["send", identifier, "--to", "script", "--again", "--wait", "--json"]
      let refused = try await scene.broker.command(send)
      #expect(refused.code == 4)
      let document = try WireCoder.decode(JSONValue.self, from: refused.output, limit: .max)
      #expect(document.elements.first?["error"]?["code"]?.text == "asset_missing")
      #expect(try await scene.ask("fsck").document.kinds == ["missing"])
      #expect(try await scene.ask("fsck", identifier).code == 1)
      try DurableFile.rename(elsewhere, to: object)
      #expect(try await scene.broker.command(send).code == 0)
      #expect(try await scene.ask("show", identifier).document["status"]?.text == "present")
    }
  }

  @Test("what is overdue is read in the background after a start, and damage is found and shown")
  func background() async throws {
    try await Scene.withReceiver(library: "verify_every = \"1h\"") { scene in
      let asset = try await scene.imported(1, as: "clip.mp4")
      _ = try await scene.imported(2, as: "other.mp4")
      await scene.broker.end(SIGTERM)
      try scene.flip(try scene.object(asset), keepingTimes: true)
      try await scene.sql("UPDATE assets SET imported_at = imported_at - 7200000")
      try await scene.broker.start()
      _ = try await scene.broker.wait("status") { status in
        status["library"]?["damaged"] == .integer(1)
      }
      // Both were overdue, and neither is due again before its time.
      _ = try await scene.broker.wait("status") { status in
        let since = status["library"]?["all_verified_since"]?.text.flatMap {
          Timestamp(rfc3339: $0)
        }
        let last = status["library"]?["last_verified_at"]?.text.flatMap { Timestamp(rfc3339: $0) }
        guard let since, let last else { return false }
        return last.since(since) < .seconds(60)
      }
      #expect(try scene.broker.wholeLog.contains("An object is damaged"))
    }
  }
}
