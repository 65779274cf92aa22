import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import handoff_preview

@Suite("preview: failures and former previews", .timeLimit(.minutes(5)))
struct PreviewFailureTests: PreviewScene {
  @Test("what is no video fails with ffmpeg's own words and leaves nothing")
  func junk() async throws {
    let scratch = try Scratch()
    let file = try Granted(Array("<html>not found</html>".utf8), named: "a.mp4", in: scratch)
    let outcome = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.code == .unsupportedMedia)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(outcome.failure?.message.contains("Invalid data") == true)
    #expect(try previews(scratch).isEmpty)
  }

  @Test("a picture that is too large is refused with the bound")
  func tooLarge() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i color=red:s=8448x8192:r=1 -frames:v 1 -c:v mjpeg -pix_fmt yuvj420p",
      duration: 1,
      named: "big.mov",
      in: scratch
    )
    let outcome = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.code == .unsupportedMedia)
    #expect(outcome.failure?.message.contains("67 million pixels") == true)
  }

  @Test("a playlist is refused whatever its name, and what it names is not read")
  func playlists() async throws {
    let scratch = try Scratch()
    _ = try await video(
      "-f lavfi -i testsrc=s=64x48:d=0.2 -pix_fmt yuv420p",
      duration: 0.2,
      named: "secret.mp4",
      in: scratch
    )
    let secret = scratch.path.appending("grants/secret.mp4")
    let playlists = [
      "ffconcat version 1.0\nfile ../secret.mp4\n",
      "ffconcat version 1.0\nfile secret.mp4\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n\(secret.lossyText)\n#EXT-X-ENDLIST\n",
    ]
    for (number, text) in playlists.enumerated() {
      let file = try Granted(Array(text.utf8), named: "a.mp4", in: scratch)
      try FileDescriptor.open(
        file.path.parent.appending("secret.mp4"),
        O_WRONLY | O_CREAT
      ).write(try FileDescriptor.open(secret, O_RDONLY).readAll(limit: 1 << 20))
      let outcome = try await preview(scratch).deliver(
        handoff("h\(number)", [file.identifier]),
        file.grants
      )
      #expect(outcome.failure?.code == .unsupportedMedia)
    }
    #expect(try previews(scratch).isEmpty)
  }

  @Test("with everything off there are pictures and a page, and the former proxy is gone")
  func remade() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc=s=64x48:d=0.2 -pix_fmt yuv420p",
      duration: 0.2,
      in: scratch
    )
    let off = ["proxy", "storyboard", "waveform", "loudness", "quality_checks"]
    let settings = Dictionary(uniqueKeysWithValues: off.map { ($0, JSONValue.bool(false)) })
    _ = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    #expect(try names(file, scratch) == Self.silentFiles)
    let note = folder(file, scratch).appending("note.txt")
    try FileDescriptor.open(note, O_WRONLY | O_CREAT).write(Array("mine".utf8))
    let picture = folder(file, scratch).appending("storyboard-final.jpg")
    try FileDescriptor.open(picture, O_WRONLY | O_CREAT).write([1])
    _ = try await preview(scratch, settings).deliver(handoff("i", [file.identifier]), file.grants)
    let kept: Set<BytePath> = [
      "index.html", "preview.json", "poster.jpg", "contact.jpg", "note.txt", "storyboard-final.jpg",
    ]
    #expect(try names(file, scratch) == kept)
    #expect(try facts(file, scratch).findings.contains { $0.kind == .notMeasured })
    #expect(try previews(scratch) == [BytePath(file.identifier.uuid)])
  }

  @Test("damage is told, with how often ffmpeg complained")
  func damaged() async throws {
    let scratch = try Scratch()
    let whole = try await video(
      "-f lavfi -i testsrc2=s=320x240:d=1 -pix_fmt yuv420p",
      duration: 1,
      in: scratch
    )
    var bytes = try FileDescriptor.open(whole.path, O_RDONLY).readAll(limit: 1 << 24)
    for at in stride(from: bytes.count / 3, to: bytes.count / 2, by: 97) { bytes[at] ^= 0xFF }
    var made = try Granted(bytes, named: "damaged.mp4", in: scratch)
    made.asset.duration = 1
    let file = made
    try await preview(scratch).run { broker, _ in
      broker.grant(file.identifier, file.asset)
      let _: SubmitAnswer = try await broker.ask(.submit, handoff("h", [file.identifier]))
      let outcome = try await broker.nextResult().outcome
      #expect(outcome.output?["findings"]?["problem"]?.integer == 1)
      // Nobody publishes the proxy of it unseen.
      #expect(broker.renditions.map(\.name.text) == ["poster"])
    }
    let finding = try #require(try facts(file, scratch).findings.first { $0.kind == .damaged })
    #expect(finding.severity == .problem)
  }

  @Test("killed at every step and started again, it leaves one whole preview and nothing else")
  func crashes() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc=s=64x48:d=0.2 -pix_fmt yuv420p",
      duration: 0.2,
      in: scratch
    )
    var steps = 0
    // Each costs two starts with all their runs of ffmpeg.
    for ordinal in stride(from: 2, to: 130, by: 17) {
      let ended = try await preview(scratch).deliverOverCrashes(
        handoff("h\(ordinal)", [file.identifier]),
        file.grants,
        faults: ["*:\(ordinal):kill"]
      )
      #expect(ended.outcome.output != nil, "step \(ordinal)")
      #expect(try previews(scratch) == [BytePath(file.identifier.uuid)], "step \(ordinal)")
      #expect(try names(file, scratch) == Self.silentFiles, "step \(ordinal)")
      let index = try Directory.entries(of: scratch.out.appending(IndexFolder.own)).map(\.name)
      #expect(Set(index) == ["lock", IndexMemory.file], "step \(ordinal)")
      let page = try FileDescriptor.open(scratch.out.appending("index.html"), O_RDONLY)
      let html = String(decoding: try page.readAll(limit: 100_000), as: UTF8.self)
      #expect(html.contains("./\(file.identifier.uuid)/index.html"), "step \(ordinal)")
      if ended.processes == 1 { break }
      steps = ordinal
    }
    #expect((5..<130).contains(steps))
  }

  @Test("two destinations that make the same preview at once leave the whole one of the last")
  func together() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc=s=64x48:d=0.4 -pix_fmt yuv420p",
      duration: 0.4,
      in: scratch
    )
    _ = try await preview(scratch).deliver(handoff("g", [file.identifier]), file.grants)
    let other = PluginProcess(
      name: "handoff-preview",
      settings: .object([
        "folder": .string(scratch.out.lossyText), "proxy": .bool(false),
        "storyboard": .bool(false),
      ]),
      work: scratch.path.appending("other")
    )
    try Directory.create(scratch.path.appending("other"))
    async let one = preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    async let two = other.deliver(handoff("i", [file.identifier]), file.grants)
    #expect(try await one.output != nil)
    #expect(try await two.output != nil)
    let facts = try facts(file, scratch)
    let expected = Set(facts.files.map { BytePath($0) } + ["index.html", "preview.json"])
    #expect(try names(file, scratch) == expected)
  }

  @Test("a tag of many kilobytes is no reason to refuse a video, and is not shown whole")
  func longTag() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc=s=64x48:d=0.2 -metadata comment=\(String(repeating: "x", count: 60_000)) "
        + "-metadata:s:v title=\(String(repeating: "y", count: 9000))",
      duration: 0.05,
      named: "tag.mkv",
      in: scratch
    )
    let outcome = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.output != nil)
    let facts = try facts(file, scratch)
    #expect(facts.video.first?.title?.count == MediaReport.longestTag)
  }

  @Test("a proxy of a video that is longer than it says is whole, and the difference is told")
  func longer() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc=s=64x48:d=4 -pix_fmt yuv420p",
      duration: 0.04,
      in: scratch
    )
    _ = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    let facts = try facts(file, scratch)
    #expect(facts.duration == 4)
    #expect(abs((facts.proxy?.duration ?? 0) - 4) < 0.1)
    #expect(facts.findings.map(\.kind).contains(.trackLength))
    #expect(facts.storyboard?.count == 20)
  }

  @Test("a cancelled run ends its ffmpeg")
  func cancelled() async throws {
    let ffmpeg = try FFmpeg(path: nil)
    let (lines, told) = AsyncStream.makeStream(of: String.self)
    let run = Task {
      try await ffmpeg.run(
        ["-re", "-f", "lavfi", "-i", "testsrc=s=64x48", "-progress", "pipe:4", "-f", "null", "-"],
        in: "/",
        readers: [4: { told.yield($0) }]
      )
    }
    for await _ in lines { break }
    run.cancel()
    // It returns once the process has ended, and the lines end with it.
    await #expect(throws: CancellationError.self) { try await run.value }
  }
}
