import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

extension Scene {
  /// An `exec` destination that succeeds at once, and one that waits at a ``Gate``.
  static let held = """
    [destination.quick]
    transport = "exec"
    command = ["/bin/true"]
    [destination.slow]
    transport = "exec"
    command = ["/bin/sh", "-c", "\(Gate.command)"]
    concurrency = 1
    """

  /// Writes a file under a temporary name and renames it, the way careful exporters do.
  func place(_ bytes: [UInt8], as name: BytePath) throws {
    try write(bytes, to: ".placing.tmp")
    try DurableFile.rename(exports.appending(".placing.tmp"), to: exports.appending(name))
  }

  /// Waits until a path in the exports folder is an asset, and returns its local identifier.
  func identifier(of name: BytePath, other: String? = nil) async throws -> String {
    let why = try await broker.wait("why", exports.appending(name)) { why in
      why["state"]?.text == "imported" && why["local_identifier"]?.text != other
    }
    return try #require(why["local_identifier"]?.text)
  }

  func asset(_ identifier: String) async throws -> JSONValue {
    try await broker.json("show", BytePath(identifier))
  }

  func status(_ identifier: String) async throws -> String? {
    try await asset(identifier)["status"]?.text
  }

  /// The handoffs of an asset to a destination, newest first.
  func handoffs(of identifier: String, to destination: String) async throws -> [JSONValue] {
    try await broker.json("handoffs").elements.filter {
      $0["local_identifiers"]?.elements.contains(.string(identifier)) == true
        && $0["destination"]?.text == destination
    }
  }

  /// The names of an asset's events, in order.
  func events(_ identifier: String) async throws -> [String] {
    try await broker.json("history", BytePath(identifier)).elements.compactMap { $0["event"]?.text }
  }

  /// The object of an asset is in the library.
  func hasObject(_ sha256: String) throws -> Bool {
    try FileStatus.of(object(sha256)) != nil
  }

  func object(_ sha256: String) -> BytePath {
    broker.root.appending("library/objects/\(sha256.prefix(2))/\(sha256)")
  }

  /// The names of all objects in the library, without their records.
  func objects() throws -> [BytePath] {
    let objects = broker.root.appending("library/objects")
    return try Directory.entries(of: objects).flatMap { shard in
      try Directory.entries(of: objects.appending(shard.name)).map(\.name)
        .filter { $0.bytes.count == 64 }
    }
  }

  /// The record file of an asset.
  func record(_ sha256: String) throws -> JSONValue {
    let bytes = try FileDescriptor.open(object(sha256).addingSuffix(".json"), O_RDONLY)
      .readAll(limit: 1 << 24)
    return try WireCoder.decode(JSONValue.self, from: bytes)
  }
}

extension JSONValue {
  /// The member, which must be a text.
  func text(of name: String) throws -> String {
    try #require(self[name]?.text, "\(name) of \(self)")
  }
}
