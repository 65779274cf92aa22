import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// Every file name survives (CASES 59, 60, 61, 62, 64).
@Suite("File names")
struct NameTests {
  private static let names: [BytePath] = [
    "te[s]t_ video ' _ .flv.mp4", "a\n[ERROR] forged line\tx\u{1B}[31m.mp4",
    BytePath(Array("caf".utf8) + [0xE9] + Array(".mp4".utf8)),
    BytePath([0xFF, 0xFE] + Array(".mp4".utf8)),
    BytePath(String(repeating: "v", count: 251) + ".mp4"), "\u{E9}.mp4", "e\u{301}.mp4",
    "$(touch PWNED).mp4", "a;id;.mp4", "-rf.mp4", "--help.mp4", "%s%n.mp4", "{}.mp4", " .mp4",
    "Clip.MP4", "clip.mp4", "bidi \u{202E}4pm.mp4", "v,f \"q\".mp4",
  ]

  @Test(
    "every name is imported once and reaches the receiver byte by byte",
    .timeLimit(.minutes(2))
  )
  func everyName() async throws {
    let archive = """
      [destination.archive]
      transport = "plugin"
      command = ["handoff-archive"]
      write = ["archive"]
      concurrency = 4
      [destination.archive.settings]
      folder = "./archive"
      """
    let text = Scene.configuration(handoff: ["archive"], destinations: archive)
    try await Scene.run(text, starting: false) { scene in
      try Directory.create(scene.broker.root.appending("archive"))
      try await scene.broker.start()
      for (number, name) in Self.names.enumerated() {
        try scene.write(try await Scene.video(UInt64(number)), to: name)
      }
      let handoffs = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.count == Self.names.count
          && handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
      #expect(handoffs.elements.count == Self.names.count)
      #expect(try await scene.broker.json("assets").elements.count == Self.names.count)
      let kept = try Self.files(below: scene.broker.root.appending("archive"))
      #expect(Set(Self.names).subtracting(kept) == [])
      #expect(try FileStatus.of(scene.broker.root.appending("PWNED")) == nil)
      for name in Self.names {
        let why = try await scene.broker.json("why", scene.exports.appending(name))
        #expect(why["state"]?.text == "imported", "\(name)")
      }
    }
  }

  private static func files(below folder: BytePath) throws -> Set<BytePath> {
    var names: Set<BytePath> = []
    for entry in try Directory.entries(of: folder) {
      if entry.kind == .directory {
        names.formUnion(try files(below: folder.appending(entry.name)))
      } else {
        names.insert(entry.name)
      }
    }
    return names
  }
}
