import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension LongTests {
  /// More files at once than the kernel's event queue holds (`fs.inotify.max_queued_events`, 16,384).
  @Suite("Burst")
  struct Burst {
    private static let files = isLong ? 100_000 : 5_000
    private static let folders = isLong ? 1_000 : 50
    /// Each so manieth file is cut off and never whole.
    private static let cut = 50

    @Test(
      "a burst that overflows the event queue: all seen, all decided, none twice",
      .timeLimit(.minutes(isLong ? 40 : 6))
    )
    func burst() async throws {
      try await Scene.run(Scene.configuration(folder: "give_up = \"5s\"")) { scene in
        for number in 0..<Self.folders {
          try Directory.create(scene.exports.appending("day \(number)"))
        }
        _ = try await scene.broker.wait("status", within: .seconds(60)) { status in
          status["folders"]?.elements.first?["watches"] == .integer(Int64(Self.folders + 1))
        }
        let tiny = try await Self.tinyVideo(scene.broker.root)
        let clock = ContinuousClock()
        let start = clock.now
        // Stopped, so that it is certain that the queue overflows.
        try scene.broker.signal(SIGSTOP)
        for number in 0..<Self.files { try Self.write(tiny, number, to: scene) }
        let written = clock.now - start
        try scene.broker.signal(SIGCONT)
        try await Self.askInBetween(scene)
        try await Self.judge(scene)
        let took = clock.now - start
        print("burst: \(Self.files) files written in \(written), decided in \(took)")
      }
    }

    private static var whole: Int { files - (files + cut - 1) / cut }

    private static func name(_ number: Int) -> BytePath {
      BytePath("day \(number % folders)/v \(number).mp4")
    }

    /// In two parts, each with an open and a close of its own, and a new mode between them, as a file
    /// server writes: four events each.
    private static func write(_ tiny: [UInt8], _ number: Int, to scene: Scene) throws {
      let bytes = bytes(tiny, number)
      let path = scene.exports.appending(name(number))
      for part in [bytes[..<(bytes.count / 2)], bytes[(bytes.count / 2)...]] {
        let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        try file.write(Array(part))
        try file.close()
        chmod(path.nulTerminated, 0o640)
      }
    }

    private static func bytes(_ tiny: [UInt8], _ number: Int) -> [UInt8] {
      guard number % cut != 0 else { return Array(tiny[..<(tiny.count / 2)]) }
      let box: [UInt8] = [0, 0, 0, 16] + Array("free".utf8)
      return tiny + box + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// One frame of 64x64.
    private static func tinyVideo(_ folder: BytePath) async throws -> [UInt8] {
      let path = folder.appending("tiny.mp4")
      let line = """
        ffmpeg -nostdin -v error -f lavfi -i color=s=64x64:r=25 -frames:v 1 -c:v libx264 \
        -preset ultrafast -pix_fmt yuv420p '\(path.lossyText)'
        """
      guard await shell(line) == 0 else { throw TestSupportError("ffmpeg failed: \(line)") }
      return try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    }

    /// With everything under way at once, the broker still answers, and in full.
    private static func askInBetween(_ scene: Scene) async throws {
      let status = try await scene.broker.wait("status", within: .seconds(120)) { status in
        (status["folders"]?.elements.first?["candidates"]?.integer ?? 0) > files / 2
      }
      #expect(status["folders"]?.elements.first?["mode"]?.text == "events")
    }

    /// Waits as long as imports go on: how fast they are is the bench's matter.
    private static func untilNothingComes(_ scene: Scene) async throws {
      var present: Int64 = 0
      while present < whole {
        let before = present
        let more = try await poll(within: .seconds(120), every: .seconds(1)) { () -> Int64? in
          let counts = try await scene.broker.json("status")["counts"]
          let now = counts?["assets.present"]?.integer ?? 0
          return now > before ? now : nil
        }
        present = try #require(more, "the imports end at \(before) of \(whole)")
      }
    }

    private static func judge(_ scene: Scene) async throws {
      try await untilNothingComes(scene)
      let assets = try await scene.broker.json("assets")
      #expect(assets.elements.count == whole)
      let digests = Set(assets.elements.map { $0["sha256"]?.text ?? "" })
      #expect(digests.count == whole, "two assets of one content")
      let sightings = assets.elements.flatMap { $0["sources"]?.elements ?? [] }
      #expect(sightings.count == whole, "sightings")
      #expect(Set(sightings.map { $0["path"]?.text ?? "" }).count == whole)
      let status = try await scene.broker.wait("status", "--all", within: .seconds(90)) { status in
        (status["candidates"]?.elements ?? []).allSatisfy { $0["state"]?.text == "refused" }
      }
      #expect(status["candidates"]?.elements.count == files - whole)
      #expect(try scene.broker.wholeLog.contains("the event queue overflowed"))
    }
  }
}
