import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension Scene {
  var library: BytePath { broker.root.appending("library") }
  var ledger: BytePath { broker.root.appending("state/ledger.db") }

  /// A broker with one receiver that appends to a file for each handoff it gets.
  static func withReceiver(
    library settings: String = "",
    folder: String = "",
    starting: Bool = true,
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    var configuration = Scene.configuration(
      folder: folder,
      handoff: ["script"],
      destinations: """
        [destination.script]
        transport = "exec"
        command = ["/bin/sh", "-c", "echo x >> ../../../received"]
        containment = "none"
        """
    )
    if !settings.isEmpty {
      configuration = configuration.replacing(
        "[library]\n",
        with: "[library]\n\(settings)\n"
      )
    }
    try await run(configuration, starting: starting, body)
  }

  /// Drops a video and waits until it is an asset and its handoffs have ended.
  func imported(_ number: UInt64, as name: BytePath) async throws -> JSONValue {
    try write(try await Scene.video(number), to: name)
    let path = exports.appending(name).lossyText
    let assets = try await broker.wait("assets") { assets in
      assets.elements.contains { $0.names(path) }
    }
    _ = try await broker.wait("handoffs") { handoffs in
      handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
    }
    return try #require(assets.elements.first { $0.names(path) })
  }

  /// Where an asset's object is.
  func object(_ asset: JSONValue) throws -> BytePath {
    let digest = try #require(asset["sha256"]?.text)
    return library.appending("objects/\(digest.prefix(2))/\(digest)")
  }

  /// Changes one byte in the middle of an object; with its times kept, as a failing medium does it.
  func flip(_ object: BytePath, keepingTimes: Bool = false) throws {
    let before = try #require(try FileStatus.of(object))
    try #require(chmod(object.nulTerminated, 0o644) == 0)
    let file = try FileDescriptor.open(object, O_RDWR)
    var byte: [UInt8] = [0]
    let middle = off_t(before.size / 2)
    try #require(pread(file.rawValue, &byte, 1, middle) == 1)
    byte[0] ^= 0xFF
    try #require(pwrite(file.rawValue, byte, 1, middle) == 1)
    try file.sync()
    if keepingTimes {
      let time = timespec(
        tv_sec: Int(before.modified / 1_000_000_000),
        tv_nsec: Int(before.modified % 1_000_000_000)
      )
      try #require(futimens(file.rawValue, [time, time]) == 0)
    }
    try #require(chmod(object.nulTerminated, 0o444) == 0)
  }

  /// Runs a command and decodes its document, whatever its exit code.
  func ask(_ words: BytePath...) async throws -> (code: CInt, document: JSONValue) {
    let ended = try await broker.command(words + ["--json"])
    let document = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
    return (ended.code, document)
  }

  /// A command that runs beside others, with its document in a file of that name.
  func begin(_ words: [BytePath], output: BytePath) async throws -> SpawnedProcess {
    let file = try FileDescriptor.open(broker.root.appending(output), O_WRONLY | O_CREAT | O_TRUNC)
    var command = ProcessCommand(
      RunningBroker.program,
      arguments: words + ["--json", "--config", broker.config],
      environment: ["PATH=/usr/bin:/bin"]
    )
    let errors = try FileDescriptor.open(said(output), O_WRONLY | O_CREAT | O_TRUNC)
    command.descriptors = [1: file, 2: errors]
    return try await SpawnedProcess.spawn(command)
  }

  /// Waits until such a command has said something for people.
  func hasSpoken(_ output: BytePath) async throws -> Bool {
    let size = try await poll { () throws -> Int64? in
      guard let size = try FileStatus.of(said(output))?.size, size > 0 else { return nil }
      return size
    }
    return size != nil
  }

  private func said(_ output: BytePath) -> BytePath {
    broker.root.appending(output).addingSuffix(".err")
  }

  /// The document that such a command has printed.
  func document(_ output: BytePath) throws -> JSONValue {
    let bytes = try FileDescriptor.open(broker.root.appending(output), O_RDONLY)
      .readAll(limit: 1 << 24)
    return try WireCoder.decode(JSONValue.self, from: bytes, limit: .max)
  }

  /// How many handoffs the receiver got.
  func received() throws -> Int {
    let path = broker.root.appending("received")
    guard try FileStatus.of(path) != nil else { return 0 }
    return try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
      .count { $0 == UInt8(ascii: "\n") }
  }

  /// Takes the ledger of a broker that has ended away, and makes it again.
  func loseLedger() async throws {
    for name in ["ledger.db", "ledger.key", "ledger.head"] {
      try #require(unlink(ledger.parent.appending(BytePath(name)).nulTerminated) == 0)
    }
    try #require(try await broker.command(["rebuild"]).code == 0)
  }

  /// Drops a video, and waits until its path is an asset's.
  func seen(_ number: UInt64, as name: BytePath) async throws {
    try write(try await Scene.video(number), to: name)
    let path = exports.appending(name).lossyText
    _ = try await broker.wait("assets") { $0.elements.contains { $0.names(path) } }
  }

  /// The orders that are held, as `status` lists them.
  func held() async throws -> [JSONValue] {
    try await ask("status").document["held_orders"]?.elements ?? []
  }

  func sql(_ statement: String) async throws {
    try #require(await shell("sqlite3 '\(ledger.lossyText)' \"\(statement)\"") == 0)
  }
}

extension JSONValue {
  /// The asset was seen at a path.
  func names(_ path: String) -> Bool {
    self["sources"]?.elements.contains { $0["path"]?.text == path } == true
  }

  /// The kinds of a check's findings, in order.
  var kinds: [String] { self["findings"]?.elements.compactMap { $0["kind"]?.text }.sorted() ?? [] }
}
