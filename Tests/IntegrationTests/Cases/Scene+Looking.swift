import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What the cases look at.
extension Scene {
  /// The quiet period of ``configuration(folder:handoff:destinations:)``.
  static let quiet = Duration.milliseconds(100)

  /// Waits until a file in the drop folder is imported.
  @discardableResult
  func untilImported(_ name: BytePath, within limit: Duration = .seconds(40)) async throws
    -> JSONValue
  {
    try await broker.wait("why", exports.appending(name), within: limit) {
      $0["state"]?.text == "imported"
    }
  }

  /// Waits until a file is in one of some states.
  @discardableResult
  func file(
    _ name: BytePath,
    is states: String...,
    within limit: Duration = .seconds(40)
  ) async throws -> JSONValue {
    try await broker.wait("why", exports.appending(name), within: limit) {
      states.contains($0["state"]?.text ?? "")
    }
  }

  func assets() async throws -> [JSONValue] { try await broker.json("assets").elements }

  /// No more than some assets appear within a time.
  func staysAt(_ count: Int, assetsFor time: Duration) async throws {
    let more = try await poll(within: time, every: .milliseconds(50)) { () -> Int? in
      let now = try await assets().count
      return now == count ? nil : now
    }
    #expect(more == nil, "an import that should not be")
  }

  /// Each of these files is imported: one asset and one sighting each, and nothing else.
  func expectExactly(_ names: [BytePath: [UInt8]]) async throws {
    for name in names.keys { try await untilImported(name) }
    let assets = try await assets()
    #expect(assets.count == names.count)
    for (name, bytes) in names {
      let digest = try Self.digest(bytes)
      let path = exports.appending(name)
      let asset = assets.first { $0["sha256"]?.text == digest }
      let sources = asset?["sources"]?.elements.map { $0["path"]?.text }
      #expect(sources == [path.lossyText], "\(name)")
    }
  }

  static func digest(_ bytes: [UInt8]) throws -> String {
    try SHA256.digest(of: bytes).map { String(Int($0) + 256, radix: 16).suffix(2) }.joined()
  }

  /// A sample with a `free` box of so many bytes in front of its number; random, or a hole.
  func writeLarge(_ name: BytePath, number: UInt64, padding: Int, sparse: Bool = false) async throws
  {
    let path = exports.appending(name)
    let file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_TRUNC, mode: 0o644)
    let video = try await Self.video(number)
    try file.write(video)
    let box = UInt32(padding + 8)
    try file.write((0..<4).map { UInt8(truncatingIfNeeded: box >> (24 - 8 * $0)) })
    try file.write(Array("free".utf8))
    if sparse {
      try file.setSize(Int64(video.count + 8 + padding))
    } else {
      var random = SeededGenerator(seed: number)
      let chunk = random.bytes(1 << 20)
      var left = padding
      while left > 0 {
        try file.write(Array(chunk.prefix(left)))
        left -= chunk.count
      }
    }
    try file.close()
  }

  /// A folder below the scene's own, made if it is not there.
  @discardableResult
  func folder(_ name: BytePath) throws -> BytePath {
    let path = broker.root.appending(name)
    var made = BytePath("/")
    for component in path.components {
      made = made.appending(component)
      if try FileStatus.of(made) == nil { try Directory.create(made) }
    }
    return path
  }

  func sh(_ line: String) async throws {
    let status = await shell("cd '\(broker.root.lossyText)' && (\(line))")
    try #require(status == 0, "\(line)")
  }
}
