import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// vsftpd 3.0, curl.
  ///
  /// The server writes under the final name with one open handle. When the connection ends, the file is
  /// closed as it is, and nothing on the server's side tells that from the end of the file; a resumed
  /// upload (`REST`) opens it again and writes on from there.
  @Suite("FTP")
  struct FTP {
    @Test("upload, cut off, resumed", .timeLimit(.minutes(2)))
    func resumed() async throws {
      guard geteuid() == 0 else {
        print("skipped, vsftpd needs root: FTP")
        return
      }
      try await Scene.run(Scene.configuration(folder: "give_up = \"5s\"")) { scene in
        let port = try Loopback.freePort()
        let configuration = try await Self.configure(scene, port)
        try await scene.serving(["vsftpd", configuration], port: port) {
          let first = try await source(scene, "first.mov", megabytes: 8)
          try await upload(
            scene,
            try await Self.curl(scene, port, first, "a.mov", ["--limit-rate", "4M"])
          )
          try await scene.expectExactly(["a.mov": try bytes(first)])
          let second = try await source(scene, "second.mov", megabytes: 16)
          let cut = try await Self.curl(scene, port, second, "b.mov", ["--limit-rate", "2M"])
          _ = try await interrupt(scene, "b.mov", cut, past: 1 << 20)
          try await expectHeld(scene, "b.mov")
          let options: [BytePath] = ["--limit-rate", "8M", "--continue-at", "-"]
          try await upload(scene, try await Self.curl(scene, port, second, "b.mov", options))
          try await scene.expectExactly([
            "a.mov": try bytes(first), "b.mov": try bytes(second),
          ])
        }
      }
    }

    private static func curl(
      _ scene: Scene,
      _ port: UInt16,
      _ source: BytePath,
      _ name: String,
      _ options: [BytePath]
    ) async throws -> SpawnedProcess {
      try await scene.spawn(
        ["curl", "--silent", "--show-error", "--upload-file", source] + options
          + [BytePath("ftp://127.0.0.1:\(port)/exports/\(name)")]
      )
    }

    private static func configure(_ scene: Scene, _ port: UInt16) async throws -> BytePath {
      let root = scene.broker.root
      try await scene.sh("chmod 755 .; mkdir empty; chown ftp exports")
      let path = root.appending("vsftpd.conf")
      let text = """
        listen=YES
        listen_address=127.0.0.1
        listen_port=\(port)
        background=NO
        anonymous_enable=YES
        no_anon_password=YES
        anon_root=\(root.lossyText)
        anon_upload_enable=YES
        anon_other_write_enable=YES
        anon_world_readable_only=NO
        anon_umask=022
        write_enable=YES
        secure_chroot_dir=\(root.lossyText)/empty
        vsftpd_log_file=\(root.lossyText)/server.log
        seccomp_sandbox=NO

        """
      try DurableFile.write(Array(text.utf8), to: path)
      return path
    }
  }
}
