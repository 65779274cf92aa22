import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// The rsync daemon, rsync 3.2.
  ///
  /// By default the receiver writes `.NAME.XXXXXX`, sets mode and time and renames it; cut off, it removes
  /// the temporary file. With `--partial` it gives what has come the final name, whole or not. With
  /// `--inplace` it writes under the final name with one open handle.
  @Suite("rsync")
  struct Rsync {
    @Test("a copy, and copies that are cut off and run again", .timeLimit(.minutes(3)))
    func copies() async throws {
      try await Scene.run(Scene.configuration(folder: "give_up = \"5s\"")) { scene in
        let port = try Loopback.freePort()
        let configuration = try Self.configure(scene)
        let server: [BytePath] = [
          "rsync", "--daemon", "--no-detach", "--config", configuration, "--address", "127.0.0.1",
          "--port", BytePath(String(port)), "--log-file", scene.broker.root.appending("server.log"),
        ]
        try await scene.serving(server, port: port) {
          let first = try await source(scene, "a.mov", megabytes: 8)
          try await upload(scene, try await Self.copy(scene, port, first, ["--bwlimit=4M", "-t"]))
          var whole = ["a.mov": try bytes(first)] as [BytePath: [UInt8]]
          try await scene.expectExactly(whole)
          for (name, option) in [
            ("b.mov", "--no-partial"), ("c.mov", "--partial"), ("d.mov", "--inplace"),
          ] {
            let source = try await source(scene, BytePath(name), megabytes: 16)
            try await Self.cutOff(scene, port, source, BytePath(option))
            whole[BytePath(name)] = try bytes(source)
            try await scene.expectExactly(whole)
          }
        }
      }
    }

    private static func cutOff(
      _ scene: Scene,
      _ port: UInt16,
      _ source: BytePath,
      _ option: BytePath
    ) async throws {
      let name = source.lastComponent
      let client = try await copy(scene, port, source, ["--bwlimit=2M", option])
      let written = try await interrupt(scene, name, client, past: 1 << 20)
      if option == "--inplace" {
        #expect(written == name)
      } else {
        #expect(written.bytes.first == UInt8(ascii: "."))
        // The receiver notices the end of the connection and tidies up.
        let gone = try await poll {
          try FileStatus.of(scene.exports.appending(written)) == nil ? true : nil
        }
        #expect(gone == true)
      }
      if option == "--no-partial" {
        #expect(try FileStatus.of(scene.exports.appending(name)) == nil)
      } else {
        try await expectHeld(scene, name)
      }
      try await upload(scene, try await copy(scene, port, source, ["--bwlimit=16M", option]))
    }

    private static func copy(
      _ scene: Scene,
      _ port: UInt16,
      _ source: BytePath,
      _ options: [BytePath]
    ) async throws -> SpawnedProcess {
      try await scene.spawn(
        ["rsync"] + options + [source, BytePath("rsync://127.0.0.1:\(port)/drop/")]
      )
    }

    private static func configure(_ scene: Scene) throws -> BytePath {
      let path = scene.broker.root.appending("rsyncd.conf")
      let text = """
        use chroot = no
        pid file = \(scene.broker.root.lossyText)/rsyncd.pid
        [drop]
        path = \(scene.exports.lossyText)
        read only = no
        uid = \(geteuid())
        gid = \(getegid())

        """
      try DurableFile.write(Array(text.utf8), to: path)
      return path
    }
  }
}
