import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("The documentation's receiver in Python", .timeLimit(.minutes(5)))
struct ReceiverPageTests {
  private static func configuration(_ program: BytePath) -> String {
    let destination = """
      [destination.shelf]
      transport = "plugin"
      command = ["\(program)"]
      containment = "none"
      write = ["shelf"]
      [destination.shelf.settings]
      folder = "./shelf"
      """
    return Scene.configuration(handoff: ["shelf"], destinations: destination)
  }

  /// A broker with the receiver; the folder that it keeps copies in is there.
  private func serve(_ body: nonisolated(nonsending) (Scene, BytePath) async throws -> Void)
    async throws
  {
    try await Scene.run("", starting: false) { scene in
      let root = scene.broker.root
      let program = try DocumentedReceivers.write(try DocumentedReceivers.python, in: root)
      let shelf = root.appending("shelf")
      try Directory.create(shelf)
      try DurableFile.write(
        Array(Self.configuration(program).utf8),
        to: scene.broker.config
      )
      try await scene.broker.start()
      try await body(scene, shelf)
    }
  }

  private func awaitSuccess(_ scene: Scene, count: Int) async throws {
    _ = try await scene.broker.wait("handoffs") { handoffs in
      handoffs.elements.count { $0["status"]?.text == "succeeded" } == count
    }
  }

  @Test("it serves a broker, and keeps what it is handed whole, whatever its name")
  func serves() async throws {
    try await serve { scene, shelf in
      let video = try await Scene.video(1)
      let name = BytePath(Array("caf".utf8) + [0xE9] + Array(".mp4".utf8))
      try scene.write(video, to: name)
      try scene.write(try await Scene.video(2), to: "two.mp4")
      try await awaitSuccess(scene, count: 2)
      let kept = try Directory.entries(of: shelf).map(\.name)
      #expect(kept.count == 2)
      let isNamed: (BytePath) -> Bool = { $0.bytes.suffix(8).elementsEqual(name.bytes) }
      let first = try #require(kept.first(where: isNamed))
      let file = try FileDescriptor.open(shelf.appending(first), O_RDONLY)
      let copy = try file.readAll(limit: 1 << 24)
      #expect(copy == video)
    }
  }

  @Test("the broker and it are killed, and after the restart it goes on and does nothing twice")
  func restarts() async throws {
    try await serve { scene, shelf in
      try scene.write(try await Scene.video(1), to: "one.mp4")
      try await awaitSuccess(scene, count: 1)
      await scene.broker.end(SIGKILL)
      try scene.write(try await Scene.video(2), to: "two.mp4")
      try await scene.broker.start()
      try await awaitSuccess(scene, count: 2)
      let kept = try Directory.entries(of: shelf)
      #expect(kept.count == 2)
    }
  }

  @Test("`handoff plugin test` tells by its exit code how it went")
  func exitCodes() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      let root = scene.broker.root
      let right = try DocumentedReceivers.write(try DocumentedReceivers.python, in: root)
      let passed = try await scene.broker.command(["plugin", "test", right, "--only", "submit"])
      #expect(passed.code == 0, "\(passed.errors)")
      let said = String(decoding: passed.output, as: UTF8.self)
      #expect(said.split(separator: "\n").last?.hasSuffix("checks passed") == true)
      let wrong = root.appending("wrong")
      try DurableFile.write(Array("#!/bin/sh\n".utf8), to: wrong, permissions: 0o755)
      let failed = try await scene.broker.command(["plugin", "test", wrong, "--json"])
      #expect(failed.code == 1)
      let report = try WireCoder.decode(JSONValue.self, from: failed.output)
      #expect(report["checks"]?.elements.first?["verdict"]?.text == "failed")
      #expect(report["checks"]?.elements.first?["mend"]?.text?.isEmpty == false)
      let wordless = try await scene.broker.command(["plugin", "test"])
      #expect(wordless.code == 2)
      let settings = root.appending("settings.toml")
      try DurableFile.write(Array("folder = \n".utf8), to: settings)
      let words: [BytePath] = ["plugin", "test", right, "--settings", settings]
      let unreadable = try await scene.broker.command(words)
      #expect(unreadable.code == 2)
      let nobody = try await scene.broker.command(["plugin", "test", root.appending("no")])
      #expect(nobody.code == 3)
    }
  }
}
