import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A server that an archive is kept on, in a test's scene: it can be killed and started again.
protocol ArchiveServer: Sendable {
  /// Its section of rclone's configuration.
  func section(secret: String?) throws -> String
  /// Starts it, with what it had before, and waits until it takes uploads.
  func start() async throws -> SpawnedProcess
}

/// A scene with an archive on a server, which is looked at through rclone as a client of its own.
struct ArchiveScene {
  static let slow = 24

  let scene: Scene
  let server: any ArchiveServer

  private static let plugin = """
    transport = "plugin"
    command = ["handoff-archive"]
    containment = "require"
    network = true
    read = ["rclone.conf", "keys"]
    retry = { for = "3m", first = "100ms", max = "1s" }

    """

  /// The broker's configuration: an archive, one with a wrong secret, and one in a place that is not there.
  static func configuration(handoff: [String], bandwidth: String = "") -> String {
    func destination(_ name: String, _ remote: String) -> String {
      """
      [destination.\(name)]
      \(plugin)
      [destination.\(name).settings]
      remote = "\(remote)"
      rclone_config = "./rclone.conf"
      layout = "{year}"
      \(bandwidth)

      """
    }
    return Scene.configuration(
      handoff: handoff,
      destinations: destination("archive", "store:masters")
        + destination("wrong", "wrong:masters") + destination("nowhere", "store:nowhere/deep")
    )
  }

  /// Runs a test with a server of a kind and a broker.
  static func run(
    handoff: [String] = ["archive"],
    bandwidth: String = "",
    _ make: (Scene) async throws -> any ArchiveServer,
    _ body: (ArchiveScene, ServerLife) async throws -> Void
  ) async throws {
    let text = configuration(handoff: handoff, bandwidth: bandwidth)
    try await Scene.run(text, starting: false) { scene in
      try scene.folder(scene.broker.root.appending("keys"))
      let server = try await make(scene)
      let config = try server.section(secret: nil)
      let wrong = try server.section(secret: "wrong")
      try DurableFile.write(
        Array("[store]\n\(config)\n[wrong]\n\(wrong)\n".utf8),
        to: scene.broker.root.appending("rclone.conf")
      )
      let life = ServerLife(server)
      do {
        try await life.start()
        let archive = ArchiveScene(scene: scene, server: server)
        try await archive.rclone("mkdir store:masters")
        try await scene.broker.start()
        try await body(archive, life)
      } catch {
        await life.kill()
        throw error
      }
      await life.kill()
    }
  }

  /// Runs rclone as a client that is not the plugin.
  func rclone(_ line: String) async throws {
    try await scene.sh(
      "env -i PATH=\"$PATH\" HOME=$PWD RCLONE_CONFIG=$PWD/rclone.conf rclone \(line) >> client.log 2>&1"
    )
  }

  /// Everything that the server has, by path, fetched anew, with every manifest checked by sha256sum.
  func content() async throws -> [BytePath: [UInt8]] {
    try await scene.sh("rm -rf fetched; mkdir fetched")
    try await rclone("copy store:masters fetched")
    let root = scene.broker.root.appending("fetched")
    var found: [BytePath: [UInt8]] = [:]
    func walk(_ folder: BytePath) throws {
      for entry in try Directory.entries(of: folder) {
        let path = folder.appending(entry.name)
        if entry.kind == .directory {
          try walk(path)
        } else if let name = path.relative(to: root) {
          found[name] = try ServerTests.bytes(path)
        }
      }
    }
    try walk(root)
    for manifest in found.keys where manifest.lastComponent == "SHA256SUMS" {
      let folder = root.appending(manifest).parent.lossyText
      try await scene.sh("cd '\(folder)' && sha256sum --quiet --strict -c SHA256SUMS")
    }
    return found
  }

  /// Exactly these files are on the server, and the manifest tells of as many.
  func expectExactly(_ files: [String: [UInt8]]) async throws {
    let year = "20\(try Self.year())"
    var found = try await content()
    let manifest = found.removeValue(forKey: BytePath("\(year)/SHA256SUMS"))
    let lines = manifest.map { $0.count { $0 == UInt8(ascii: "\n") } }
    #expect(lines == files.count)
    #expect(
      found.keys.map(\.lossyText).sorted() == files.keys.map { "\(year)/\($0)" }.sorted()
    )
    for (name, bytes) in files {
      #expect(found[BytePath("\(year)/\(name)")] == bytes, "\(name)")
    }
  }

  static func year() throws -> Int {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    return Int(parts.tm_year) - 100
  }

  /// Waits for a handoff of an export to a destination that fulfils something.
  func handoff(
    of name: BytePath,
    to destination: String = "archive",
    until isRight: (JSONValue) -> Bool
  ) async throws -> JSONValue {
    let identifier = try await scene.identifier(of: name)
    let all = try await scene.broker.wait("handoffs", within: .seconds(60)) { handoffs in
      handoffs.elements.contains {
        $0["local_identifiers"]?.elements.contains(.string(identifier)) == true
          && $0["destination"]?.text == destination && isRight($0)
      }
    }
    return try #require(
      all.elements.first {
        $0["local_identifiers"]?.elements.contains(.string(identifier)) == true
          && $0["destination"]?.text == destination
      }
    )
  }

  func succeeded(_ name: BytePath) async throws -> JSONValue {
    try await handoff(of: name) { $0["state"]?.text == "succeeded" }
  }

  /// Waits until rclone moves an export to the server, and returns its process.
  func uploading(_ name: String) async throws -> Int32 {
    let found = try await poll(within: .seconds(60), every: .milliseconds(10)) {
      try processes("rclone", "copyto", name).first
    }
    let end = try scene.broker.tail()
    return try #require(found, "no upload begins: \(end)")
  }

  /// The processes of this scene whose command line has some words.
  func processes(_ program: String, _ words: String...) throws -> [Int32] {
    try Directory.entries(of: "/proc").compactMap { entry -> Int32? in
      guard let id = Int32(entry.name.lossyText),
        let file = try? FileDescriptor.open(BytePath("/proc/\(id)/cmdline"), O_RDONLY),
        let line = try? file.readAll(limit: 1 << 20),
        let first = line.split(separator: 0).first,
        BytePath(first).lastComponent.lossyText == program,
        let environment = try? FileDescriptor.open(BytePath("/proc/\(id)/environ"), O_RDONLY)
          .readAll(limit: 1 << 20)
      else { return nil }
      let text = String(decoding: line, as: UTF8.self)
      let isOurs = String(decoding: environment, as: UTF8.self).contains(
        scene.broker.root.lossyText
      )
      return isOurs && words.allSatisfy(text.contains) ? id : nil
    }
  }
}

/// The server's process, ended at the latest with the test.
final class ServerLife: Sendable {
  private let server: any ArchiveServer
  private let process = Slot()

  init(_ server: any ArchiveServer) {
    self.server = server
  }

  func start() async throws {
    process.set(try await server.start())
  }

  func kill() async {
    guard let spawned = process.take() else { return }
    Glibc.kill(-spawned.id, SIGKILL)
    _ = await spawned.exit()
  }
}
