import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What becomes of originals: never touched before the library and the ledger have their content, and
/// only while they are what was imported.
@Suite("Originals")
struct OriginalTests {
  private static let remove = "original = \"remove\""
  private static let whenHandedOff = "\(remove)\noriginal_when = \"handed_off\""

  @Test("a copy whose record finds no room is taken back, and does not hold the space it waits for")
  func recordWithoutRoom() async throws {
    try await withTemporaryDirectory { root in
      // The library's two files, the copy, and then its record.
      let broker = try RunningBroker(
        root: root,
        configuration: Scene.configuration(),
        environment: ["HANDOFF_FAULT=library.write:4:errno=28"]
      )
      let scene = Scene(broker: broker)
      try await broker.start()
      try scene.write(try await Scene.video(1), to: "cut.mp4")
      _ = try await scene.identifier(of: "cut.mp4")
      let log = try broker.tail()
      #expect(log.contains("no_space"))
      // Made anew: had the first copy stayed, it would have been seen again.
      #expect(log.contains("detail=copied"))
      #expect(!log.contains("already_present") && !log.contains("alreadyPresent"))
      #expect(try scene.objects().count == 1)
    }
  }

  @Test(
    "Case 72 (a): a write error late in the import leaves the original and no object",
    .timeLimit(.minutes(1))
  )
  func writeError() async throws {
    try await withTemporaryDirectory { root in
      // Two MiB are eight writes: the seventh fails, and so does the whole import.
      let text = Scene.configuration(folder: "original = \"move\"\nmove_to = \"done\"")
      let broker = try RunningBroker(
        root: root,
        configuration: text,
        environment: ["HANDOFF_FAULT=library.write:9:errno=5"]
      )
      let scene = Scene(broker: broker)
      try Directory.create(root.appending("done"))
      try await broker.start()
      let box: [UInt8] = [0, 0x20, 0, 0] + Array("free".utf8)
      let bytes = try await Scene.video(1) + box + [UInt8](repeating: 7, count: 0x200000 - 8)
      let path = scene.exports.appending("cut.mp4")
      try scene.write(bytes, to: "cut.mp4")
      let failed = try await broker.wait("why", path) {
        $0["reason"]?.text?.contains("io_error") == true
      }
      #expect(failed["state"]?.text == "importing")
      #expect(try scene.objects().isEmpty)
      #expect(try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24) == bytes)
      // The cause has gone: it is imported by itself, and then moved.
      let identifier = try await scene.identifier(of: "cut.mp4")
      #expect(try await scene.status(identifier) == "present")
      let moved = root.appending("done/cut.mp4")
      #expect(try await poll { try FileStatus.of(moved) != nil ? true : nil } == true)
      #expect(try FileStatus.of(path) == nil)
      await broker.end(SIGTERM)
    }
  }

  @Test(
    "Case 72 (b): an original that cannot be removed is imported and sent, with one warning",
    .timeLimit(.minutes(1))
  )
  func immutable() async throws {
    guard getuid() == 0 else { return print("skipped: chattr +i needs root") }
    let text = Scene.configuration(
      folder: Self.remove,
      handoff: ["quick"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      // Immutable before the broker can see it.
      let aside = scene.broker.root.appending("cut.mp4")
      try DurableFile.write(try await Scene.video(2), to: aside, permissions: 0o644)
      let link = scene.exports.appending("cut.mp4")
      guard
        await shell("mv '\(aside.lossyText)' '\(link.lossyText)' && chattr +i '\(link.lossyText)'")
          == 0
      else { return print("skipped: this file system knows no immutable files") }
      let path = scene.exports.appending("cut.mp4").lossyText
      let identifier = try await scene.identifier(of: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.map { $0["status"]?.text } == ["succeeded"]
      }
      try scene.write(try await Scene.video(3), to: "later.mp4")
      let later = scene.exports.appending("later.mp4")
      #expect(try await poll { try FileStatus.of(later) == nil ? true : nil } == true)
      let warnings = try scene.broker.wholeLog.split(separator: "The source could not be removed")
      #expect(warnings.count == 2)
      #expect(try FileStatus.of(BytePath(path)) != nil)
      #expect(await shell("chattr -i '\(path)'") == 0)
      #expect(try await scene.status(identifier) == "present")
      #expect(try await scene.handoffs(of: identifier, to: "quick").count == 1)
    }
  }

  @Test(
    "Case 72 (c): a new export under the name, just before the removal, is kept and imported",
    .timeLimit(.minutes(1))
  )
  func replaced() async throws {
    let text = Scene.configuration(
      folder: Self.whenHandedOff,
      handoff: ["slow"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let gate = try Gate("slow", scene)
      try scene.write(try await Scene.video(4), to: "cut.mp4")
      let first = try await scene.identifier(of: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "submitted"
      }
      let bytes = try await Scene.video(5)
      try scene.place(bytes, as: "cut.mp4")
      let second = try await scene.identifier(of: "cut.mp4", other: first)
      try gate.pass()
      _ = try await scene.broker.wait("show", "h1") { $0["status"]?.text == "succeeded" }
      _ = try await scene.broker.wait("show", "h2") { $0["status"]?.text == "submitted" }
      let path = scene.exports.appending("cut.mp4")
      #expect(try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24) == bytes)
      try gate.pass()
      #expect(try await poll { try FileStatus.of(path) == nil ? true : nil } == true)
      #expect(try await scene.status(second) == "present")
      #expect(try scene.objects().count == 2)
    }
  }

  @Test(
    "handed_off: it goes when every destination has it, also by a second try",
    .timeLimit(.minutes(1))
  )
  func everyDestination() async throws {
    let text = Scene.configuration(
      folder: Self.whenHandedOff,
      handoff: ["quick", "slow"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let gate = try Gate("slow", scene)
      let path = scene.exports.appending("cut.mp4")
      try scene.write(try await Scene.video(6), to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      let slow = try await scene.broker.wait("handoffs", until: Self.isSlow("submitted"))
      let id = try #require(slow.elements.first { $0["destination"]?.text == "slow" }?["id"]?.text)
      let why = try await scene.broker.json("why", path)
      #expect(why["reason"]?.text?.contains("\(id) to slow") == true, "\(why)")
      // The first ends its process, the second the doubt about it.
      for _ in 1...2 {
        #expect(try await scene.broker.command(["cancel", BytePath(id)]).code == 5)
      }
      #expect(try FileStatus.of(path) != nil)
      let status = try await scene.broker.json("status")
      let stays = try #require(status["originals"]?.elements.first)
      #expect(stays["path"]?.text == path.lossyText)
      #expect(stays["local_identifier"]?.text == identifier)
      #expect(stays["reason"]?.text?.contains("\(id) to slow did not succeed") == true)
      // At the next start it still stays; and a success by hand lets it go.
      try gate.pass()
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      #expect(try FileStatus.of(path) != nil)
      try gate.pass()
      let send: [BytePath] = ["send", BytePath(identifier), "--to", "slow", "--again", "--wait"]
      #expect(try await scene.broker.command(send).code == 0)
      #expect(try await poll { try FileStatus.of(path) == nil ? true : nil } == true)
      #expect(try await scene.broker.json("status")["originals"]?.elements.isEmpty == true)
    }
  }

  @Test(
    "an original whose handoffs a rebuild holds stays until they are let go and have succeeded",
    .timeLimit(.minutes(1))
  )
  func owed() async throws {
    let text = Scene.configuration(
      folder: Self.whenHandedOff,
      handoff: ["quick"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      await scene.broker.end(SIGTERM)
      let path = scene.exports.appending("cut.mp4")
      try scene.write(try await Scene.video(13), to: "cut.mp4")
      #expect(try await scene.broker.command(["rebuild", "--force"]).code == 0)
      try await scene.broker.start()
      // Recorded without handoffs, since the export is older than the rebuild.
      _ = try await scene.identifier(of: "cut.mp4")
      let status = try await scene.broker.wait("status") {
        $0["originals"]?.elements.isEmpty == false
      }
      let stays = try #require(status["originals"]?.elements.first)
      #expect(stays["path"]?.text == path.lossyText)
      #expect(stays["reason"]?.text?.contains("--resume-handoffs") == true)
      #expect(try FileStatus.of(path) != nil)
      #expect(try await scene.broker.command(["rebuild", "--resume-handoffs"]).code == 0)
      #expect(try await poll { try FileStatus.of(path) == nil ? true : nil } == true)
    }
  }

  @Test("the original of a deleted asset is the last copy, and stays", .timeLimit(.minutes(1)))
  func lastCopy() async throws {
    let text = Scene.configuration(
      folder: Self.whenHandedOff,
      handoff: ["slow"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let gate = try Gate("slow", scene)
      let bytes = try await Scene.video(7)
      try scene.write(bytes, to: "cut.mp4")
      let identifier = try await scene.identifier(of: "cut.mp4")
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "submitted"
      }
      #expect(
        try await scene.broker.command(["delete", BytePath(identifier), "--force"]).code == 0
      )
      try gate.pass()
      _ = try await scene.broker.wait("show", "h1") { $0["status"]?.text == "succeeded" }
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      let path = scene.exports.appending("cut.mp4")
      #expect(try await scene.identifier(of: "cut.mp4") == identifier)
      #expect(try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24) == bytes)
      #expect(try await scene.status(identifier) == "deleted")
    }
  }

  @Test(
    "Case 57: links are listed as such; nothing outside is read, imported or removed",
    .timeLimit(.minutes(1))
  )
  func links() async throws {
    let text = Scene.configuration(folder: Self.remove)
    try await Scene.run(text) { scene in
      let outside = scene.broker.root.appending("outside")
      try Directory.create(outside)
      let target = outside.appending("V.mp4")
      let bytes = try await Scene.video(8)
      try DurableFile.write(bytes, to: target, permissions: 0o644)
      let links: [(BytePath, BytePath)] = [
        ("p.mp4", "/etc/passwd"), ("h", outside), ("l.mp4", target),
      ]
      for (name, target) in links {
        let path = scene.exports.appending(name)
        try checked("symlink", path) { symlink(target.nulTerminated, path.nulTerminated) }
      }
      // A regular file that becomes a link the moment that it is there.
      for round in 1...20 {
        let path = scene.exports.appending("swap \(round).mp4")
        try scene.write(bytes, to: path.lastComponent)
        let link = outside.appending("link")
        try checked("symlink", link) { symlink(target.nulTerminated, link.nulTerminated) }
        try DurableFile.rename(link, to: path)
      }
      for name in ["p.mp4", "l.mp4"] + (1...20).map({ "swap \($0).mp4" }) {
        let why = try await scene.broker.wait("why", scene.exports.appending(BytePath(name))) {
          $0["state"]?.text == "ignored"
        }
        #expect(why["reason"]?.text?.contains("symbolic link") == true, "\(name): \(why)")
      }
      #expect(try FileDescriptor.open(target, O_RDONLY).readAll(limit: 1 << 24) == bytes)
      let inside = try await scene.broker.json("why", scene.exports.appending("h/V.mp4"))
      #expect(inside["state"]?.text != "imported")
      let sources = try await scene.broker.json("assets").elements.flatMap {
        $0["sources"]?.elements ?? []
      }
      let named = sources.compactMap { $0["path"]?.text }
      #expect(named.allSatisfy { !$0.contains("outside") && !$0.contains("/h/") })
      #expect(named.allSatisfy { $0.contains("swap") }, "only what was a file for a moment")
    }
  }

  @Test(
    "Case 62: names of 255 bytes are imported, and a path that is too long is reported once",
    .timeLimit(.minutes(1))
  )
  func longNames() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let long = BytePath(String(repeating: "v", count: 251) + ".mp4")
      let wide = BytePath(String(repeating: "\u{20AC}", count: 83) + "ab.mp4")
      #expect(long.bytes.count == 255)
      #expect(wide.bytes.count == 255)
      let exports = scene.exports.lossyText
      let sample = scene.broker.root.appending("deep.mp4")
      try DurableFile.write(try await Scene.video(9), to: sample)
      let line = """
        cd '\(exports)' && i=0 && while [ $i -lt 25 ]; do d=$(printf 'd%.0s' $(seq 200)); \
        mkdir $d && cd -P $d || exit 1; i=$((i+1)); done; cp '\(sample.lossyText)' deep.mp4
        """
      #expect(await shell(line) == 0)
      for (number, name) in [(UInt64(10), long), (11, wide)] {
        try scene.write(try await Scene.video(number), to: name)
        _ = try await scene.identifier(of: name)
      }
      // Another listing of everything tells it no second time.
      try scene.write(try await Scene.video(12), to: "last.mp4")
      _ = try await scene.identifier(of: "last.mp4")
      let log = try scene.broker.wholeLog
      #expect(log.split(separator: "File name too long").count == 2, "\(log.suffix(3000))")
      #expect(try await scene.broker.json("assets").elements.count == 3)
      #expect(await shell("rm -rf '\(exports)/'d*") == 0)
    }
  }

  private static func isSlow(_ status: String) -> (JSONValue) -> Bool {
    { handoffs in
      handoffs.elements.contains {
        $0["destination"]?.text == "slow" && $0["status"]?.text == status
      }
    }
  }
}
