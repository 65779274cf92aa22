import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A broker whose every write is recorded, and what it has had to do.
struct PowerLossScene {
  let scene: Scene
  let log: BytePath

  private static let folders: [BytePath] = ["exports", "taken", "moved"]

  /// Runs a test on such a broker, not yet started.
  static func run(
    _ body: nonisolated(nonsending) (PowerLossScene) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { tools in
      let recorder = try await recorder(in: tools)
      try await withTemporaryDirectory { root in
        let log = tools.appending("writes.log")
        let words = [
          "/usr/bin/env", "LD_PRELOAD=\(recorder.lossyText)",
          "WRITE_RECORDER_ROOT=\(root.lossyText)", "WRITE_RECORDER_LOG=\(log.lossyText)",
        ]
        let broker = try RunningBroker(
          root: root,
          configuration: configuration,
          prefix: words.map { BytePath($0) }
        )
        for folder in folders + ["done", "out", "hand"] {
          try Directory.create(root.appending(folder))
        }
        let power = PowerLossScene(scene: Scene(broker: broker), log: log)
        do {
          try await body(power)
        } catch {
          await broker.end(SIGKILL)
          throw error
        }
        await broker.end(SIGKILL)
      }
    }
  }

  /// Compiles the library that records.
  private static func recorder(in folder: BytePath) async throws -> BytePath {
    let library = folder.appending("write-recorder.so")
    let source = BytePath(#filePath).parent.parent.parent
      .appending("Fixtures/WriteRecorder/WriteRecorder.c")
    let line = """
      clang -O1 -shared -fPIC -Wall -Werror -o '\(library.lossyText)' '\(source.lossyText)'
      """
    guard await shell(line) == 0 else { throw TestSupportError("clang failed: \(line)") }
    return library
  }

  // MARK: Work

  /// What is there before the broker starts, as the disk model is to know it.
  struct Before {
    var root: UInt64 = 0
    var folders: Set<UInt64> = []
    /// Name, folder, own inode number, whether it is a folder.
    var entries: [(BytePath, UInt64, UInt64, Bool)] = []
    /// The exports' digests.
    var sources: [UInt64: String] = [:]
  }

  /// Writes exports, so many into each drop folder, and as many that are imported by hand.
  func prepare(_ count: Int) async throws -> Before {
    let root = scene.broker.root
    for folder in Self.folders + ["hand"] {
      for number in 0..<count { try await write(folder, number) }
    }
    var before = Before()
    before.root = try inode(root)
    try list(root, &before)
    before.folders = Set(try Self.folders.map { try inode(root.appending($0)) })
    return before
  }

  private func write(_ folder: BytePath, _ number: Int) async throws {
    let name = folder.appending("clip \(number).mp4")
    let content = UInt64(number) << 8 | UInt64(folder.bytes.first ?? 0)
    let file = try FileDescriptor.open(
      scene.broker.root.appending(name),
      O_WRONLY | O_CREAT | O_TRUNC,
      mode: 0o644
    )
    try file.write(try await Scene.video(content))
    try file.close()
  }

  private func list(_ folder: BytePath, _ before: inout Before) throws {
    let above = try inode(folder)
    for entry in try Directory.entries(of: folder) {
      let path = folder.appending(entry.name)
      let own = try inode(path)
      before.entries.append((entry.name, above, own, entry.kind == .directory))
      if entry.kind == .directory { try list(path, &before) }
      if entry.name.lossyText.hasSuffix(".mp4") {
        let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
        before.sources[own] = PowerLossCheck.hexDigits(try SHA256.digest(of: bytes))
      }
    }
  }

  private func inode(_ path: BytePath) throws -> UInt64 {
    UInt64(try #require(try FileStatus.of(path)).inode)
  }

  /// Lets the broker do everything once: imports of each kind, handoffs, a kill, a stop, new starts.
  func work(_ count: Int) async throws {
    let broker = scene.broker
    try await broker.start()
    for number in 0..<count {
      let path = broker.root.appending("hand/clip \(number).mp4")
      let ended = try await broker.command(["import", path])
      #expect(ended.code == 0, "\(ended.errors)")
      if number == count / 2 {
        await broker.end(SIGKILL)
        try await broker.start()
      }
    }
    let all = count * Self.folders.count
    _ = try await broker.wait("handoffs") { handoffs in
      handoffs.elements.count { $0["status"]?.text == "succeeded" } == all
    }
    let left = try await poll {
      let taken = try Directory.entries(of: broker.root.appending("taken")).count
      let moved = try Directory.entries(of: broker.root.appending("moved")).count
      return taken + moved == 0 ? true : nil
    }
    #expect(left == true, "sources are left")
    #expect(await broker.end(SIGTERM) == .exited(0))
    try await broker.start()
    #expect(await broker.end(SIGTERM) == .exited(0))
  }

  static let configuration = """
    [broker]
    state = "state"
    listen = ""

    [library]
    path = "library"
    reserve = "1%"

    [[drop_folder]]
    path = "exports"
    quiet = "100ms"
    handoff = ["asked"]

    [[drop_folder]]
    path = "taken"
    quiet = "100ms"
    original = "remove"
    handoff = ["asked"]

    [[drop_folder]]
    path = "moved"
    quiet = "100ms"
    original = "move"
    move_to = "done"
    handoff = ["asked"]

    [destination.asked]
    transport = "plugin"
    command = ["counting-receiver"]
    write = ["out"]
    containment = "none"
    [destination.asked.settings]
    log = "./out/asked.log"
    """
}
