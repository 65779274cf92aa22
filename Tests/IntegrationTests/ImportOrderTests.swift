import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What is on the disk when, seen from outside.
@Suite("The order of an import", .timeLimit(.minutes(3)))
struct ImportOrderTests {
  @Test(
    "Case 66: data sync, rename, sync of the folder, the ledger's commit, and only then the source",
    arguments: ["remove", "move", "keep"]
  )
  func order(original: String) async throws {
    try #require(access("/usr/bin/strace", X_OK) == 0, "install strace")
    let folder =
      original == "move"
      ? "original = \"move\"\nmove_to = \"done\"" : "original = \"\(original)\""
    let configuration = Scene.configuration(folder: folder)
    try await Scene.run(configuration, starting: false) { scene in
      try Directory.create(scene.broker.root.appending("done"))
      let trace = scene.broker.root.appending("trace")
      let traced = try await Self.start(scene, trace)
      try scene.write(try await Scene.video(1), to: "clip.mp4")
      _ = try await scene.broker.wait("assets") { $0.elements.count == 1 }
      if original != "keep" {
        let source = scene.exports.appending("clip.mp4")
        let isGone = try await poll { try FileStatus.of(source) == nil ? true : nil }
        #expect(isGone == true)
      }
      guard case .integer(let broker) = try await scene.broker.json("status")["pid"] else {
        throw TestSupportError("no pid in the status")
      }
      // strace(1) ends with the broker.
      kill(pid_t(broker), SIGTERM)
      _ = await traced.exit()
      let calls = String(
        decoding: try FileDescriptor.open(trace, O_RDONLY).readAll(limit: 1 << 26),
        as: UTF8.self
      ).split(separator: "\n").map(String.init)
      try Self.check(calls, original: original)
    }
  }

  /// Starts the broker below strace(1), which ends with it, and waits for its `ready`.
  private static func start(_ scene: Scene, _ trace: BytePath) async throws -> SpawnedProcess {
    let log = try FileDescriptor.open(scene.broker.log, O_WRONLY | O_CREAT | O_APPEND)
    var command = ProcessCommand(
      "/usr/bin/strace",
      arguments: [
        "-f", "-y", "-qq", "-s", "400", "-o", trace, "-e",
        "trace=fsync,fdatasync,rename,renameat2,linkat,unlink,unlinkat", "-e", "signal=none",
        RunningBroker.program, "serve", "--config", scene.broker.config,
      ],
      environment: ["PATH=/usr/bin:/bin"]
    )
    command.descriptors = [1: log, 2: log]
    let process = try await SpawnedProcess.spawn(command)
    let isReady = try await poll {
      try scene.broker.tail().contains("ready\n") ? true : nil
    }
    try #require(isReady == true)
    return process
  }

  private static func check(_ calls: [String], original: String) throws {
    func first(_ what: String, after start: Int, _ words: String...) throws -> Int {
      let found = calls.indices.dropFirst(start).first { index in
        words.allSatisfy { calls[index].contains($0) } && !calls[index].contains(" = -1 ")
      }
      return try #require(found, "\(what) after call \(start):\n\(calls.joined(separator: "\n"))")
    }
    let rename = try first(
      "rename",
      after: 0,
      "renameat2(",
      "/library/staging/import-",
      "/library/objects/",
      "RENAME_NOREPLACE"
    )
    // A source that is taken is synced under its own name, since it is the same inode.
    let data = original == "remove" ? "/exports/clip.mp4>" : "/library/staging/import-"
    let sync = try first("sync of the data", after: 0, "sync(", data)
    #expect(sync < rename)
    let folder = try first("sync of the folder", after: rename + 1, "fsync(", "/library/objects/")
    let commit = try first("commit", after: folder + 1, "fdatasync(", "/state/ledger.db-wal")
    // Nothing of the ledger's that could name the asset came before its object was durable.
    let early = calls[sync..<folder].filter { $0.contains("/state/ledger.db-wal") }
    #expect(early == [])
    let touched = calls.indices.filter { index in
      ["rename", "unlink"].contains { calls[index].contains($0) }
        && calls[index].contains("clip.mp4\"")
    }
    #expect(touched.allSatisfy { $0 > commit })
    #expect(touched.isEmpty == (original == "keep"))
  }
}
