import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// OpenSSH 9.2 with internal-sftp, rclone 1.60: no digests, renames.
  @Suite("archive on SFTP")
  struct ArchiveSFTP {
    private func run(
      handoff: [String] = ["archive"],
      bandwidth: String = "",
      _ body: (ArchiveScene, ServerLife) async throws -> Void
    ) async throws {
      try await ArchiveScene.run(handoff: handoff, bandwidth: bandwidth) { scene in
        try await SFTPServer(scene)
      } _: { archive, life in
        try await body(archive, life)
      }
    }

    @Test("kept, found again, replacing nothing, verified later", .timeLimit(.minutes(2)))
    func kept() async throws {
      try await run { archive, _ in try await ArchiveWalk(archive).kept(method: "downloaded") }
    }

    @Test("a wrong key and a folder that is not there", .timeLimit(.minutes(2)))
    func refusals() async throws {
      try await run(handoff: ["wrong", "nowhere"]) { archive, _ in
        try await ArchiveWalk(archive).refusals()
      }
    }

    @Test("server, plugin and broker killed during uploads", .timeLimit(.minutes(3)))
    func killed() async throws {
      try await run(bandwidth: "bandwidth = \"8M\"") { archive, life in
        try await ArchiveWalk(archive).killed(life)
      }
    }
  }
}

/// sshd on a port of its own.
struct SFTPServer: ArchiveServer {
  private let scene: Scene
  private let port: UInt16
  private let user = String(cString: getpwuid(geteuid()).pointee.pw_name)

  init(_ scene: Scene) async throws {
    self.scene = scene
    port = try Loopback.freePort()
    try await scene.sh(
      """
      ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f keys/client \
      && ssh-keygen -q -t ed25519 -N '' -f keys/wrong && cp keys/client.pub authorized_keys \
      && echo "[127.0.0.1]:\(port) $(cut -d' ' -f1,2 host_key.pub)" > keys/known_hosts \
      && mkdir served && { test -d /run/sshd || mkdir /run/sshd; }
      """
    )
    let served = scene.broker.root.appending("served")
    _ = try Loopback.writeSSHDConfiguration(scene, port, "ForceCommand internal-sftp -d \(served)")
  }

  func section(secret: String?) -> String {
    let keys = scene.broker.root.appending("keys").lossyText
    return """
      type = sftp
      host = 127.0.0.1
      port = \(port)
      user = \(user)
      key_file = \(keys)/\(secret ?? "client")
      known_hosts_file = \(keys)/known_hosts
      shell_type = none
      """
  }

  func start() async throws -> SpawnedProcess {
    let config = scene.broker.root.appending("sshd_config")
    let server = try await scene.spawn(["/usr/sbin/sshd", "-D", "-e", "-f", config])
    let listens = try await poll { Loopback.accepts(port) ? true : nil }
    try #require(listens == true, "sshd does not listen")
    return server
  }
}
