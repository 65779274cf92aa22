import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Real file servers write into a drop folder, as their clients tell them to: `make test-servers`.
@Suite(
  "Server tests",
  .serialized,
  .enabled(if: environmentValue("HANDOFF_SERVERS") != nil, "make test-servers runs them")
)
enum ServerTests {
  /// A QuickTime file of about so many megabytes, its index at the end, as a test source.
  static func source(_ scene: Scene, _ name: BytePath, megabytes: Int) async throws -> BytePath {
    let path = scene.broker.root.appending(name)
    let frames = max(1, megabytes * 1_000_000 / (1280 * 720 * 2))
    try await scene.sh(
      """
      ffmpeg -nostdin -v error -y -f lavfi -i testsrc=size=1280x720:rate=25 -frames:v \(frames) \
      -c:v rawvideo -pix_fmt uyvy422 -metadata comment=\(name.lossyText) '\(name.lossyText)'
      """
    )
    return path
  }

  static func bytes(_ path: BytePath) throws -> [UInt8] {
    try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 31)
  }

  /// Waits until a file under a name, or a temporary one beside it, has more than some bytes.
  static func grows(_ scene: Scene, _ name: BytePath, past size: Int64) async throws -> BytePath {
    let found = try await poll(within: .seconds(30), every: .milliseconds(2)) { () -> BytePath? in
      for entry in try Directory.entries(of: scene.exports)
      where entry.name.lossyText.contains(name.stem.lossyText) {
        let path = scene.exports.appending(entry.name)
        if let status = try FileStatus.of(path), status.size > size { return entry.name }
      }
      return nil
    }
    return try #require(found, "the upload does not begin")
  }

  /// Stalls an upload for longer than the quiet period, its connection open, and cuts it off.
  ///
  /// - Returns: the name that it was written under.
  static func interrupt(
    _ scene: Scene,
    _ name: BytePath,
    _ client: SpawnedProcess,
    past size: Int64
  ) async throws -> BytePath {
    let count = try await scene.assets().count
    let written = try await grows(scene, name, past: size)
    kill(-client.id, SIGSTOP)
    try await scene.staysAt(count, assetsFor: Scene.quiet * 10)
    kill(-client.id, SIGKILL)
    _ = await client.exit()
    return written
  }

  /// What a cut off upload has left under its final name is held, with the reason.
  static func expectHeld(_ scene: Scene, _ name: BytePath) async throws {
    let count = try await scene.assets().count
    let why = try await scene.file(name, is: "incomplete", "refused")
    #expect(why["reason"]?.text?.isEmpty == false)
    try await scene.staysAt(count, assetsFor: Scene.quiet * 10)
  }

  /// Runs a client to its end, with nothing imported before.
  static func upload(_ scene: Scene, _ client: SpawnedProcess) async throws {
    let count = try await scene.assets().count
    let watched = WatchedProcess(client)
    let early = try await poll(within: .seconds(60), every: .milliseconds(50)) { () -> Bool? in
      let hasMore = try await scene.assets().count > count
      // Its end may be noticed a little after what follows from it.
      let limit = Duration.milliseconds(hasMore ? 500 : 0)
      let hasEnded = try await poll(within: limit) { watched.hasEnded ? true : nil } ?? false
      return hasEnded ? false : hasMore ? true : nil
    }
    #expect(early == false, "imported before the upload had ended")
    let ended = await client.exit()
    let said = try scene.serverLog()
    #expect(ended == .exited(0), "\(said)")
  }
}

extension Scene {
  /// What servers and clients have said.
  func serverLog() throws -> String {
    let path = broker.root.appending("server.log")
    guard try FileStatus.of(path) != nil else { return "" }
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24)
    return String(decoding: bytes.suffix(2000), as: UTF8.self)
  }

  /// Starts a program in a process group of its own.
  func spawn(_ words: [BytePath]) async throws -> SpawnedProcess {
    let path = environmentValue("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    var command = ProcessCommand(
      "/usr/bin/env",
      arguments: words,
      environment: [BytePath("PATH=\(path):/usr/sbin:/sbin"), BytePath("HOME=\(broker.root)")]
    )
    let log = broker.root.appending("server.log")
    command.workingDirectory = broker.root
    command.descriptors[1] = try FileDescriptor.open(
      log,
      O_WRONLY | O_CREAT | O_APPEND,
      mode: 0o644
    )
    command.descriptors[2] = command.descriptors[1]
    return try await SpawnedProcess.spawn(command)
  }

  /// Runs a test while a server listens on a port; the server and what it has started are ended.
  func serving(
    _ words: [BytePath],
    port: UInt16,
    _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    let server = try await spawn(words)
    let listens = try await poll { Loopback.accepts(port) ? true : nil }
    var failure: (any Error)?
    do {
      let said = try serverLog()
      try #require(listens == true, "\(words[0]) does not listen: \(said)")
      try await body()
    } catch {
      failure = error
    }
    _ = await server.terminate(grace: .seconds(3))
    if let failure { throw failure }
  }
}
