import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Imports by hand, and files that a person takes although the checks say no.
@Suite("Imports by hand")
struct AcceptanceTests {
  private static func cut(_ number: UInt64) async throws -> [UInt8] {
    Array(try await Scene.video(number).dropLast(3000))
  }

  @Test(
    "a refused export that a person takes goes the way of its folder, recorded as such",
    .timeLimit(.minutes(2))
  )
  func refused() async throws {
    let text = Scene.configuration(
      folder: "give_up = \"1s\"",
      handoff: ["quick"],
      destinations: Scene.held
    )
    try await Scene.run(text) { scene in
      let path = scene.exports.appending("half.mp4")
      try scene.write(try await Self.cut(1), to: "half.mp4")
      let why = try await scene.broker.wait("why", path) { $0["state"]?.text == "refused" }
      #expect(try await scene.broker.command(["import", path]).code == 4)
      #expect(try await scene.broker.json("assets").elements.isEmpty)

      let taken = try await scene.broker.json("import", "--accept-incomplete", path)
      let asset = try #require(taken.elements.first)
      #expect(asset["accepted_incomplete"] == .bool(true))
      #expect(asset["acceptance"]?["user"]?.integer == Int64(getuid()))
      #expect(asset["acceptance"]?["findings"]?.text == why["reason"]?.text)
      #expect(
        asset["sources"]?.elements.map { $0["folder"]?.text } == [scene.exports.lossyText]
      )
      let identifier = try asset.text(of: "local_identifier")
      #expect(try await scene.identifier(of: "half.mp4") == identifier)
      _ = try await scene.broker.wait("handoffs") {
        $0.elements.map { $0["status"]?.text } == ["succeeded"]
      }
      let record = try scene.record(try asset.text(of: "sha256"))
      #expect(record["accepted_incomplete"]?["by"]?.integer == Int64(getuid()))
      #expect(try await scene.events(identifier).contains("accepted_incomplete"))

      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      #expect(try await scene.identifier(of: "half.mp4") == identifier)
      #expect(try await scene.broker.json("assets").elements.count == 1)
      #expect(try await scene.broker.json("handoffs").elements.count == 1)
    }
  }

  @Test(
    "outside of the drop folders it goes nowhere, and what passes the checks is not marked",
    .timeLimit(.minutes(1))
  )
  func outside() async throws {
    let text = Scene.configuration(handoff: ["quick"], destinations: Scene.held)
    try await Scene.run(text) { scene in
      let half = scene.broker.root.appending("half.mp4")
      let whole = scene.broker.root.appending("whole.mp4")
      try DurableFile.write(try await Self.cut(2), to: half)
      try DurableFile.write(try await Scene.video(3), to: whole)
      let taken = try await scene.broker.json("import", "--accept-incomplete", half, whole)
      #expect(
        taken.elements.map { $0["accepted_incomplete"] } == [.bool(true), .bool(false)]
      )
      #expect(
        taken.elements.flatMap { $0["sources"]?.elements ?? [] }.map { $0["folder"]?.text }
          == ["import", "import"]
      )
      #expect(try await scene.broker.json("handoffs").elements.isEmpty)
    }
  }

  @Test(
    "one file that fails does not keep the others out, and the exit code is the worst",
    .timeLimit(.minutes(1))
  )
  func several() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let root = scene.broker.root
      try DurableFile.write(try await Scene.video(4), to: root.appending("1.mp4"))
      try DurableFile.write(try await Self.cut(5), to: root.appending("3.mp4"))
      try DurableFile.write(try await Scene.video(6), to: root.appending("4.mp4"))
      let names: [BytePath] = ["3.mp4", "1.mp4", "missing.mp4", "4.mp4"]
      let ended = try await scene.broker.command(["import"] + names.map { root.appending($0) })
      #expect(ended.code == 4)
      #expect(String(decoding: ended.output, as: UTF8.self).split(separator: "\n").count == 2)
      #expect(ended.errors.contains("missing.mp4"))
      #expect(ended.errors.contains("3.mp4"))
    }
  }

  @Test("import --take of a file that cannot be removed imports it and says so")
  func unremovable() async throws {
    guard getuid() == 0 else { return print("skipped: chattr +i needs root") }
    try await Scene.run(Scene.configuration()) { scene in
      let folder = scene.broker.root.appending("outside")
      try Directory.create(folder)
      let file = folder.appending("cut.mp4")
      try DurableFile.write(try await Scene.video(8), to: file)
      guard await shell("chattr +i '\(folder.lossyText)' 2> /dev/null") == 0 else {
        return print("skipped: this file system knows no immutable folders")
      }
      let ended = try await scene.broker.command(["import", "--take", file])
      #expect(await shell("chattr -i '\(folder.lossyText)'") == 0)
      let asset = try #require(try await scene.broker.json("assets").elements.first)
      #expect(ended.code == 0)
      #expect(
        String(decoding: ended.output, as: UTF8.self)
          == "\(try #require(asset["local_identifier"]?.text))\n"
      )
      #expect(ended.errors.contains("warning: \(file.lossyText)"))
      #expect(try FileStatus.of(file) != nil)
    }
  }

  @Test("the brake on intake holds imports by hand too", .timeLimit(.minutes(1)))
  func brake() async throws {
    let text = Scene.configuration()
      .replacing("path = \"library\"", with: "path = \"library\"\nreserve = \"100%\"")
    try await Scene.run(text) { scene in
      let file = scene.broker.root.appending("cut.mp4")
      try DurableFile.write(try await Scene.video(7), to: file)
      let ended = try await scene.broker.command(["import", file])
      #expect(ended.code == 4)
      #expect(ended.errors.contains("no space"))
      #expect(try scene.objects().isEmpty)
      #expect(try FileStatus.of(file) != nil)
    }
  }
}
