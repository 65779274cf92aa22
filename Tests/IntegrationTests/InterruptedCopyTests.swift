import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// `kill -9` in the middle of large copies.
@Suite("Interrupted copies")
struct InterruptedCopyLongTests {
  /// Twenty kills of a 200 MB copy in `make test-long`, fewer and smaller in `make test`.
  private static let isLong = environmentValue("HANDOFF_LONG") != nil

  @Test(
    "Case 31: killed in mid-copy again and again, an import leaves no part behind and happens once",
    .timeLimit(.minutes(10))
  )
  func kills() async throws {
    let (kills, size) = Self.isLong ? (20, 200 << 20) : (5, 48 << 20)
    // So many kills give up an export otherwise.
    let configuration = Scene.configuration(broker: "crash_limit = 0")
    try await Scene.run(configuration, starting: false) { scene in
      var random = SeededGenerator(seed: 31)
      let bytes = try await Self.large(size, &random)
      let staging = scene.broker.root.appending("library/staging")
      try await scene.broker.start()
      try scene.write(bytes, to: "large.mp4")
      var interrupted = 0
      for _ in 1...kills {
        let share = Int64.random(in: 1..<Int64(size * 3 / 4), using: &random)
        let isCopying = try await poll(within: .seconds(30), every: .milliseconds(1)) {
          try Self.staged(staging).contains { $0 >= share } ? true : nil
        }
        await scene.broker.end(SIGKILL)
        if isCopying == true { interrupted += 1 }
        #expect(try Self.staged(staging).count <= 1)
        #expect(try Self.objects(scene).isEmpty, "no final name before the copy is whole")
        try await scene.broker.start()
      }
      #expect(interrupted == kills)
      let assets = try await scene.broker.wait("assets", within: .seconds(60)) {
        $0.elements.count == 1
      }
      #expect(assets.elements[0]["size"] == .integer(Int64(bytes.count)))
      #expect(try Self.staged(staging).isEmpty)
      #expect(try Self.objects(scene).count == 1)
      #expect(try await scene.ask("fsck").code == 0)
      print("\(kills) kills in mid-copy of \(bytes.count) bytes, imported once")
    }
  }

  /// A whole MP4 with a large `free` box of noise behind it.
  private static func large(_ size: Int, _ random: inout SeededGenerator) async throws -> [UInt8] {
    let sample = try await SampleVideo.mp4.path()
    let video = try FileDescriptor.open(sample, O_RDONLY).readAll(limit: 1 << 24)
    let length = withUnsafeBytes(of: UInt32(size).bigEndian) { Array($0) }
    return video + length + Array("free".utf8) + random.bytes(size - 8)
  }

  /// The bytes that are on the disk of each staging file.
  private static func staged(_ folder: BytePath) throws -> [Int64] {
    guard try FileStatus.of(folder) != nil else { return [] }
    return try Directory.entries(of: folder).compactMap { entry in
      guard entry.name.lossyText.hasPrefix("import-") else { return nil }
      return try FileStatus.of(folder.appending(entry.name))?.size
    }
  }

  private static func objects(_ scene: Scene) throws -> [BytePath] {
    let objects = scene.broker.root.appending("library/objects")
    return try Directory.entries(of: objects).flatMap { shard in
      try Directory.entries(of: objects.appending(shard.name)).map(\.name).filter {
        $0.bytes.count == 64
      }
    }
  }
}
