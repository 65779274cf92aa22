import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests {
  /// SeaweedFS 4.48, rclone 1.60: no renames; the server's MD5 of what comes in one piece, none of what
  /// comes in parts.
  @Suite("archive on S3")
  struct ArchiveS3 {
    private func run(
      handoff: [String] = ["archive"],
      bandwidth: String = "",
      cutoff: String = "200Mi",
      _ body: (ArchiveScene, ServerLife) async throws -> Void
    ) async throws {
      try await ArchiveScene.run(handoff: handoff, bandwidth: bandwidth) { scene in
        try await S3Server(scene, cutoff: cutoff)
      } _: { archive, life in
        try await body(archive, life)
      }
    }

    @Test("kept, found again, replacing nothing, verified later", .timeLimit(.minutes(2)))
    func kept() async throws {
      try await run { archive, _ in try await ArchiveWalk(archive).kept(method: "server") }
    }

    @Test("a wrong secret and a bucket that is not there", .timeLimit(.minutes(2)))
    func refusals() async throws {
      try await run(handoff: ["wrong", "nowhere"]) { archive, _ in
        try await ArchiveWalk(archive).refusals()
      }
    }

    @Test("server, plugin and broker killed during uploads in parts", .timeLimit(.minutes(3)))
    func killed() async throws {
      try await run(bandwidth: "bandwidth = \"8M\"", cutoff: "5Mi") { archive, life in
        let walk = ArchiveWalk(archive)
        try await walk.killed(life)
        // No part of an upload that was cut off is kept, and charged for.
        try await archive.rclone("backend list-multipart-uploads store:masters | tee parts.json")
        try await archive.scene.sh(
          "grep -q '\"masters\": \\[\\]' parts.json || { cat parts.json; false; }"
        )
      }
    }
  }
}

/// SeaweedFS with its data in the scene's folder.
struct S3Server: ArchiveServer {
  private let scene: Scene
  private let cutoff: String
  private let ports: [UInt16]
  private let weed: BytePath

  init(_ scene: Scene, cutoff: String) async throws {
    self.scene = scene
    self.cutoff = cutoff
    ports = try Self.freePorts()
    let package = BytePath(#filePath).parent.parent.parent.parent
    try await scene.sh(
      "mkdir data && '\(package.lossyText)/.ci/python' s3 > weed.path"
    )
    let folder = try ServerTests.bytes(scene.broker.root.appending("weed.path"))
    weed = BytePath(folder.filter { $0 != UInt8(ascii: "\n") }).appending("weed")
    let identities = """
      {"identities": [{"name": "broker", "credentials":
      [{"accessKey": "BROKERKEY", "secretKey": "secret-of-the-broker"}],
      "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}
      """
    try DurableFile.write(Array(identities.utf8), to: scene.broker.root.appending("s3.json"))
  }

  /// Four ports, also free 10,000 higher, where it listens too.
  private static func freePorts() throws -> [UInt16] {
    var found: Set<UInt16> = []
    for _ in 0..<1000 where found.count < 4 {
      let port = UInt16.random(in: 10_000...22_000)
      if !Loopback.accepts(port), !Loopback.accepts(port + 10_000) { found.insert(port) }
    }
    return found.sorted()
  }

  func section(secret: String?) -> String {
    """
    type = s3
    provider = Other
    access_key_id = BROKERKEY
    secret_access_key = \(secret ?? "secret-of-the-broker")
    endpoint = http://127.0.0.1:\(ports[3])
    region = us-east-1
    upload_cutoff = \(cutoff)
    chunk_size = 5Mi
    """
  }

  func start() async throws -> SpawnedProcess {
    let root = scene.broker.root.lossyText
    let words = """
      server -dir=\(root)/data -ip=127.0.0.1 -ip.bind=127.0.0.1 -master.telemetry=false
      -master.telemetry.url= -master.port=\(ports[0]) -master.volumeSizeLimitMB=256
      -volume.port=\(ports[1]) -volume.max=100 -volume.preStopSeconds=0 -filer -filer.port=\(ports[2])
      -filer.localSocket=\(root)/filer.sock -s3 -s3.port=\(ports[3]) -s3.config=\(root)/s3.json
      -s3.localSocket=\(root)/s3.sock -s3.port.iceberg=0 -s3.port.lance=0
      """
    let server = try await scene.spawn(
      [weed] + words.split(whereSeparator: \.isWhitespace).map { BytePath(String($0)) }
    )
    // It says that it is well before it takes anything.
    let probe = ArchiveScene(scene: scene, server: self)
    let isReady = try await poll(within: .seconds(60), every: .milliseconds(200)) { () -> Bool? in
      guard Loopback.accepts(ports[3]) else { return nil }
      do {
        try await probe.rclone("--retries 1 --low-level-retries 1 copyto s3.json store:probe/probe")
        return true
      } catch {
        return nil
      }
    }
    guard isReady == true else {
      Glibc.kill(-server.id, SIGKILL)
      _ = await server.exit()
      let said = try scene.serverLog()
      throw TestSupportError("SeaweedFS takes no object: \(said)")
    }
    return server
  }
}
