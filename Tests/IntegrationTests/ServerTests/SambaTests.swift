import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// Samba 4.17, `smbclient`.
  ///
  /// smbd creates the file under its final name and keeps it open until the client closes it or its
  /// connection ends, also while nothing comes; smbclient writes from the front. A put that is cut off
  /// leaves what has come, under the final name and closed as if it were whole; a second put truncates it.
  @Suite("Samba")
  struct Samba {
    @Test("put, cut off, put again", .timeLimit(.minutes(2)))
    func put() async throws {
      try await Scene.run(Scene.configuration(folder: "give_up = \"5s\"")) { scene in
        let port = try Loopback.freePort()
        let configuration = try Self.configure(scene, port)
        let server: [BytePath] = [
          "smbd", "--foreground", "--no-process-group", "-s", configuration, "--debug-stdout",
        ]
        try await scene.serving(server, port: port) {
          let first = try await source(scene, "first.mov", megabytes: 20)
          try await upload(scene, try await Self.put(scene, port, first, as: "a.mov"))
          try await scene.expectExactly(["a.mov": try bytes(first)])
          let second = try await source(scene, "second.mov", megabytes: 300)
          let client = try await Self.put(scene, port, second, as: "b.mov")
          _ = try await interrupt(scene, "b.mov", client, past: 1 << 20)
          try await expectHeld(scene, "b.mov")
          let again = try await Self.put(scene, port, second, as: "b.mov")
          #expect(await again.exit() == .exited(0))
          try await scene.expectExactly([
            "a.mov": try bytes(first), "b.mov": try bytes(second),
          ])
        }
      }
    }

    private static func put(
      _ scene: Scene,
      _ port: UInt16,
      _ source: BytePath,
      as name: String
    ) async throws -> SpawnedProcess {
      try await scene.spawn([
        "smbclient", "-s", scene.broker.root.appending("smb.conf"), "-N", "-p",
        BytePath(String(port)), "//127.0.0.1/drop", "-c",
        BytePath("put \"\(source.lossyText)\" \"\(name)\""),
      ])
    }

    private static func configure(_ scene: Scene, _ port: UInt16) throws -> BytePath {
      let folder = try scene.folder("samba").lossyText
      let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
      let path = scene.broker.root.appending("smb.conf")
      let text = """
        [global]
        server role = standalone server
        smb ports = \(port)
        interfaces = 127.0.0.1
        bind interfaces only = yes
        pid directory = \(folder)
        lock directory = \(folder)
        state directory = \(folder)
        cache directory = \(folder)
        private dir = \(folder)
        ncalrpc dir = \(folder)/ncalrpc
        passdb backend = tdbsam:\(folder)/passdb.tdb
        map to guest = bad user
        guest account = \(user)
        load printers = no
        disable spoolss = yes
        [drop]
        path = \(scene.exports.lossyText)
        read only = no
        guest ok = yes
        """
      try DurableFile.write(Array(text.utf8), to: path, permissions: 0o644)
      return path
    }
  }
}
