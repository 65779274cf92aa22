import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// OpenSSH 9.2, `sftp`.
  ///
  /// The server writes under the final name with one open handle, many pieces under way at once, and sets
  /// the mode at the end. When the client dies, the file is closed as it is; `reput` opens it again
  /// without truncating and writes the rest.
  @Suite("sshd")
  struct SSH {
    @Test("put, cut off, reput", .timeLimit(.minutes(2)))
    func reput() async throws {
      try await Scene.run(Scene.configuration(folder: "give_up = \"5s\"")) { scene in
        let port = try Loopback.freePort()
        let configuration = try await Self.configure(scene, port)
        // It wants its own absolute path.
        try await scene.sh("test -d /run/sshd || mkdir /run/sshd")
        try await scene.serving(["/usr/sbin/sshd", "-D", "-e", "-f", configuration], port: port) {
          let first = try await source(scene, "first.mov", megabytes: 8)
          let slow = try await Self.sftp(
            scene,
            port,
            "put",
            first,
            as: "a.mov",
            megabitsPerSecond: 40
          )
          try await upload(scene, slow)
          try await scene.expectExactly(["a.mov": try bytes(first)])
          let second = try await source(scene, "second.mov", megabytes: 16)
          let cut = try await Self.sftp(
            scene,
            port,
            "put",
            second,
            as: "b.mov",
            megabitsPerSecond: 20
          )
          _ = try await interrupt(scene, "b.mov", cut, past: 1 << 20)
          try await expectHeld(scene, "b.mov")
          let rest = try await Self.sftp(
            scene,
            port,
            "reput",
            second,
            as: "b.mov",
            megabitsPerSecond: 100
          )
          try await upload(scene, rest)
          try await scene.expectExactly([
            "a.mov": try bytes(first), "b.mov": try bytes(second),
          ])
        }
      }
    }

    private static func sftp(
      _ scene: Scene,
      _ port: UInt16,
      _ verb: String,
      _ source: BytePath,
      as name: String,
      megabitsPerSecond: Int
    ) async throws -> SpawnedProcess {
      let batch = scene.broker.root.appending("batch-\(name)-\(verb)")
      let line = "\(verb) \(source.lossyText) \(scene.exports.appending(name).lossyText)\n"
      try DurableFile.write(Array(line.utf8), to: batch)
      let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
      return try await scene.spawn([
        "sftp", "-P", BytePath(String(port)), "-l", BytePath(String(megabitsPerSecond * 1000)),
        "-i", scene.broker.root.appending("client_key"), "-o", "StrictHostKeyChecking=no", "-o",
        "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes", "-b", batch,
        BytePath("\(user)@127.0.0.1"),
      ])
    }

    private static func configure(_ scene: Scene, _ port: UInt16) async throws -> BytePath {
      try await scene.sh(
        """
        ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f client_key \
        && cp client_key.pub authorized_keys
        """
      )
      return try Loopback.writeSSHDConfiguration(scene, port)
    }
  }
}
