import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A broker whose destinations are the scripts of Tests/Fixtures/Hostile, and what tests ask of it.
struct HostileScene {
  let scene: Scene

  var broker: RunningBroker { scene.broker }
  var root: BytePath { scene.broker.root }

  /// The two scripts are copied beside the broker's folders, where its user can read them.
  static func run(
    prefix: [BytePath] = [],
    user: UInt32? = nil,
    environment: [String] = [],
    _ destinations: nonisolated(nonsending) (HostileScene) async throws -> String,
    _ body: nonisolated(nonsending) (HostileScene) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { root in
      let broker = try RunningBroker(
        root: root,
        configuration: "",
        environment: environment,
        prefix: prefix
      )
      let hostile = HostileScene(scene: Scene(broker: broker))
      try hostile.copyScripts()
      let text = Scene.configuration(destinations: try await destinations(hostile))
      try DurableFile.write(Array(text.utf8), to: broker.config)
      if let user { try await hostile.scene.sh("chmod 755 . scripts; chown -R \(user):\(user) .") }
      do {
        try await broker.start()
        try await body(hostile)
      } catch {
        await broker.end(SIGKILL)
        throw error
      }
      await broker.end(SIGKILL)
    }
  }

  var scripts: BytePath { root.appending("scripts") }

  private func copyScripts() throws {
    let fixtures = BytePath(#filePath).parent.parent.parent.appending("Fixtures/Hostile")
    try Directory.create(scripts)
    for name in ["attack.py", "misdeeds.py"] as [BytePath] {
      let bytes = try FileDescriptor.open(fixtures.appending(name), O_RDONLY).readAll(
        limit: 1 << 20
      )
      try DurableFile.write(bytes, to: scripts.appending(name), permissions: 0o644)
    }
  }

  /// A destination that runs one of the scripts.
  func destination(
    _ name: String,
    _ transport: String,
    _ words: [String],
    _ settings: String = "containment = \"require\""
  ) -> String {
    let program = scripts.appending(BytePath(words[0])).lossyText
    let list = (["/usr/bin/python3", "-B", program] + words.dropFirst()).map { "\"\($0)\"" }
    return """
      [destination.\(name)]
      transport = "\(transport)"
      command = [\(list.joined(separator: ", "))]
      read = ["\(scripts.lossyText)"]
      \(settings)

      """
  }

  /// An `exec` destination that is a line of shell.
  static func shell(_ name: String, _ line: String, _ settings: String = "") -> String {
    """
    [destination.\(name)]
    transport = "exec"
    command = ["/bin/sh", "-c", '''\(line)''']
    \(settings)

    """
  }

  /// A shell line's beginning that reads the request and keeps its token in `$s`.
  static let token = "read -r r; s=${r#*\\\"state\\\":\\\"}; s=${s%%\\\"*}; "
  /// A shell line that answers with a full success.
  static let answer =
    "printf '{\"protocol_version\":3,\"state\":\"%s\",\"result\":\"success\"}\\n' \"$s\"; "

  // MARK: What a sender does

  /// Imports a small video of its own.
  func importVideo(_ number: UInt64) async throws -> String {
    let path = root.appending(BytePath("by hand \(number).mp4"))
    try DurableFile.write(try await Scene.video(number), to: path, permissions: 0o644)
    let asset = try await broker.json("import", path)
    return try #require((asset.elements.first ?? asset)["local_identifier"]?.text)
  }

  /// Sends an asset and waits until the handoff has ended or needs a person.
  func sendAndWait(
    _ asset: String,
    to destination: String,
    within limit: Duration = .seconds(30)
  ) async throws -> JSONValue {
    try await begin(asset, to: destination)
    return try await handoff(to: destination, in: Self.ends, within: limit)
  }

  static let ends: Set<String> = [
    "succeeded", "failed", "refused", "cancelled", "expired", "outcome_unknown",
  ]

  func begin(_ asset: String, to destination: String) async throws {
    _ = try await broker.json("send", BytePath(asset), "--to", BytePath(destination), "--again")
  }

  /// The newest handoff to a destination, once it is in one of some states.
  func handoff(
    to destination: String,
    in states: Set<String>,
    within limit: Duration = .seconds(40)
  ) async throws -> JSONValue {
    func newest(_ list: JSONValue) -> JSONValue? {
      list.elements.first { $0["destination"]?.text == destination }
    }
    let list = try await broker.wait("handoffs", within: limit) {
      states.contains(newest($0)?["status"]?.text ?? "")
    }
    return try #require(newest(list))
  }

  var brokerID: Int32 {
    get async throws {
      Int32(try #require(try await broker.json("status")["pid"]?.integer))
    }
  }
}

/// The process has ended: its number is free, or it only waits to be collected.
func hasEnded(_ pid: Int32) -> Bool { kill(pid, 0) == -1 && errno == ESRCH }
