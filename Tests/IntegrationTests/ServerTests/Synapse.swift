import Glibc
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A real Matrix server, Synapse 1.163 with SQLite, on a free port of 127.0.0.1 and in a folder of its own.
final class Synapse: Sendable {
  /// What its users' ids end with.
  static let name = "handoff.test"
  /// What it takes of one upload.
  static let uploadLimit = 12 << 20

  let root: BytePath
  let port: UInt16
  let commands: BytePath
  private let slot = Slot()

  /// The one that the running suite's tests share.
  @TaskLocal static var running: Synapse?

  static var shared: Synapse {
    get throws { try #require(running, "the suite has no Synapse") }
  }

  /// Starts one, and ends it after the body.
  static func run(_ body: @Sendable (Synapse) async throws -> Void) async throws {
    let package = BytePath(#filePath).parent.parent.parent.parent
    let line = "cd '\(package)' && .ci/python matrix > /dev/null"
    try #require(await shell(line) == 0, "Synapse cannot be installed")
    try await withTemporaryDirectory { root in
      let synapse = Synapse(
        root: root,
        port: try Loopback.freePort(),
        commands: package.appending(".build/tools/matrix/bin")
      )
      try synapse.configure()
      var failure: (any Error)?
      do {
        try await synapse.start()
        try await synapse.makeAdministrator()
        try await body(synapse)
      } catch {
        failure = error
      }
      await synapse.kill()
      if let failure { throw failure }
    }
  }

  private init(root: BytePath, port: UInt16, commands: BytePath) {
    self.root = root
    self.port = port
    self.commands = commands
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Starts it and waits until it answers.
  func start() async throws {
    let log = try FileDescriptor.open(root.appending("log"), O_WRONLY | O_CREAT | O_APPEND)
    var command = ProcessCommand(
      commands.appending("python"),
      arguments: ["-m", "synapse.app.homeserver", "-c", root.appending("homeserver.yaml")],
      environment: ["PATH=/usr/bin:/bin", "HOME=\(root)", "PYTHONPATH=\(root)"].map { BytePath($0) }
    )
    command.workingDirectory = root
    command.descriptors = [1: log, 2: log]
    slot.set(try await SpawnedProcess.spawn(command))
    let http = HTTPClient(agent: "test")
    let versions = HTTPRequest("GET", "\(url)/_matrix/client/versions")
    let answers = try await poll(within: .seconds(60), every: .milliseconds(50)) {
      do {
        return try await http.exchange(versions).status == 200 ? true : nil
      } catch is HTTPFailure {
        return nil
      }
    }
    let said = try String(
      decoding: FileDescriptor.open(root.appending("log"), O_RDONLY).readAll(limit: 1 << 24)
        .suffix(2000),
      as: UTF8.self
    )
    try #require(answers == true, "Synapse does not start: \(said)")
  }

  /// `kill -9`.
  func kill() async {
    guard let process = slot.take() else { return }
    Glibc.kill(process.id, SIGKILL)
    _ = await process.exit()
  }

  /// Stops it, or lets it go on.
  func signal(_ signal: CInt) {
    if let process = slot.held { Glibc.kill(process.id, signal) }
  }

  /// A request has come that it has not read.
  var hasUnread: Bool {
    get throws {
      let table = try FileDescriptor.open("/proc/net/tcp", O_RDONLY).readAll(limit: 1 << 24)
      let digits = String(port, radix: 16, uppercase: true)
      let place = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
      return String(decoding: table, as: UTF8.self).split(separator: "\n").contains { line in
        let fields = line.split(separator: " ")
        return fields.count > 4 && fields[1] == place && fields[3] == "01"
          && !fields[4].hasSuffix(":00000000")
      }
    }
  }

  /// Holds the empty uploads of a user back, as for two minutes after another of its workers has died.
  func holdUploads(of user: String) async throws {
    let script = """
      import sqlite3, time
      db = sqlite3.connect("\(root)/db", timeout=10)
      db.execute(
          "INSERT INTO worker_locks SELECT 'upload_media', media_id, 'worker', 'held', ?"
          " FROM local_media_repository WHERE user_id = ? AND media_length IS NULL",
          (int(time.time() * 1000), "\(user)"),
      )
      assert db.total_changes == 1
      db.commit()
      """
    let path = root.appending("hold.py")
    try DurableFile.write(Array(script.utf8), to: path)
    try #require(await shell("python3 '\(path)'") == 0, "no upload is held back")
  }

  /// What it tells users of its limits, besides the truth, and their quotas in bytes.
  func tell(_ limits: [String: Int64] = [:], quotas: [String: Int64] = [:]) throws {
    let document = JSONValue.object([
      "told": .object(limits.mapValues { .integer($0) }),
      "quotas": .object(quotas.mapValues { .integer($0) }),
    ])
    try DurableFile.write(try WireCoder.encode(document), to: root.appending("limits.json"))
  }
}

/// Gives a suite one Synapse for all its tests.
struct SharedSynapse: SuiteTrait, TestScoping {
  let isRecursive = false

  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable @concurrent () async throws -> Void
  ) async throws {
    try await Synapse.run { synapse in
      try await Synapse.$running.withValue(synapse) { try await function() }
    }
  }
}

extension Trait where Self == SharedSynapse {
  static var sharedSynapse: Self { SharedSynapse() }
}
