import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import handoff_preview

@Suite("preview", .timeLimit(.minutes(5)))
struct PreviewTests {
  private static let ffmpeg: BytePath = "/usr/bin/ffmpeg"

  private func preview(
    _ scratch: Scratch,
    _ settings: [String: JSONValue] = [:]
  ) -> PluginProcess {
    // On a busy machine a nice child would make the tests slow.
    let fixed: [String: JSONValue] = [
      "folder": .string(scratch.out.lossyText), "nice": .integer(0),
    ]
    return PluginProcess(
      name: "handoff-preview",
      settings: .object(fixed.merging(settings) { $1 }),
      work: scratch.work
    )
  }

  /// What the plugin says of a preview.
  private func facts(_ file: Granted, _ scratch: Scratch) throws -> PreviewFacts {
    let path = folder(file, scratch).appending(PreviewFacts.file)
    return try WireCoder.decode(
      PreviewFacts.self,
      from: try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20)
    )
  }

  /// The previews that are there, whole or not.
  private func previews(_ scratch: Scratch) throws -> Set<BytePath> {
    let folders = try Directory.entries(of: scratch.out).filter { $0.kind == .directory }
    return Set(folders.map(\.name)).subtracting([IndexFolder.own])
  }

  private func names(_ file: Granted, _ scratch: Scratch) throws -> Set<BytePath> {
    Set(try Directory.entries(of: folder(file, scratch)).map(\.name))
  }

  private static let silentFiles: Set<BytePath> = [
    "index.html", "preview.json", "poster.jpg", "contact.jpg", "proxy.mp4", "storyboard.vtt",
    "storyboard1.jpg",
  ]

  /// Makes a video with ffmpeg.
  private func video(
    _ arguments: String,
    duration: Double?,
    named name: BytePath = "clip.mp4",
    in scratch: Scratch
  ) async throws -> Granted {
    let path = scratch.path.appending("grants").appending(name)
    let fixed: [BytePath] = ["-nostdin", "-v", "error", "-y"]
    let status = try await runProgram(
      Self.ffmpeg,
      fixed + arguments.split(separator: " ").map { BytePath(String($0)) } + [path]
    )
    #expect(status == .exited(0))
    var file = try Granted(file: path)
    file.asset.duration = duration
    return file
  }

  /// The mean brightness of a picture, 0 to 255, and its size.
  private func brightness(_ picture: BytePath, _ scratch: Scratch) async throws -> UInt8 {
    let raw = scratch.path.appending("gray.raw")
    let status = try await runProgram(
      Self.ffmpeg,
      [
        "-nostdin", "-v", "error", "-y", "-i", picture, "-vf", "scale=1:1,format=gray", "-f",
        "rawvideo", raw,
      ]
    )
    #expect(status == .exited(0))
    return try #require(try FileDescriptor.open(raw, O_RDONLY).readAll(limit: 10).first)
  }

  /// Width and height from the start-of-frame segment of a JPEG (ITU-T T.81, B.2.2).
  private func size(_ picture: BytePath) throws -> (width: Int, height: Int) {
    let bytes = try FileDescriptor.open(picture, O_RDONLY).readAll(limit: 10 << 20)
    var at = 2
    while at + 9 < bytes.count, bytes[at] == 0xFF, bytes[at + 1] != 0xC0 {
      at += 2 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
    }
    return (
      Int(bytes[at + 7]) << 8 + Int(bytes[at + 8]), Int(bytes[at + 5]) << 8 + Int(bytes[at + 6])
    )
  }

  private func folder(_ file: Granted, _ scratch: Scratch) -> BytePath {
    scratch.out.appending(file.identifier.uuid)
  }

  @Test("the poster of a video with a black beginning is not black, and the page escapes its title")
  func poster() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i color=black:s=320x240:d=3 -f lavfi -i testsrc=s=320x240:d=2 "
        + "-filter_complex [0][1]concat=n=2 -pix_fmt yuv420p",
      duration: 5,
      named: "black \" ' start.mp4",
      in: scratch
    )
    let outcome = try await preview(scratch).deliver(
      handoff("h", [file.identifier], title: "<script>alert('x')</script> & more"),
      file.grants
    )
    #expect(outcome.output?["path"]?.text == folder(file, scratch).lossyText)
    #expect(try names(file, scratch) == Self.silentFiles)
    let facts = try facts(file, scratch)
    let black = try #require(facts.findings.first { $0.kind == .black })
    #expect(black.start == 0)
    #expect(abs((black.end ?? 0) - 3) < 0.05)
    #expect(facts.findings.contains { $0.kind == .noAudio })
    #expect(facts.storyboard?.count == 25)
    #expect(try await brightness(folder(file, scratch).appending("poster.jpg"), scratch) > 40)
    let page = try FileDescriptor.open(folder(file, scratch).appending("index.html"), O_RDONLY)
    let html = String(decoding: try page.readAll(limit: 100_000), as: UTF8.self)
    #expect(!html.contains("<script>alert"))
    #expect(html.contains(file.asset.sha256.hex))
  }

  private static func highRange(_ transfer: String) -> String {
    "-f lavfi -i testsrc2=s=854x357:d=0.2 -pix_fmt yuv444p10le -color_primaries bt2020 "
      + "-color_trc \(transfer) -colorspace bt2020nc"
  }

  @Test(
    "short, odd-sized, HDR videos, and those of unknown duration, have a preview",
    arguments: [
      ("-f lavfi -i testsrc=s=320x240:r=25 -frames:v 1 -pix_fmt yuv420p", 0.04, 320, 240),
      ("-f lavfi -i testsrc=s=853x481:d=0.4 -pix_fmt yuv444p", 0.4, 853, 481),
      ("-f lavfi -i testsrc=s=320x240:d=1 -pix_fmt yuv420p", nil, 320, 240),
      ("-f lavfi -i testsrc=s=320x240:d=1 -pix_fmt yuv420p", 500, 320, 240),
      (Self.highRange("smpte2084"), 0.2, 854, 357), (Self.highRange("arib-std-b67"), 0.2, 854, 357),
    ] as [(String, Double?, Int, Int)]
  )
  func odd(arguments: String, duration: Double?, width: Int, height: Int) async throws {
    let scratch = try Scratch()
    let file = try await video(arguments, duration: duration, in: scratch)
    let outcome = try await preview(scratch).deliver(
      handoff("h", [file.identifier]),
      file.grants
    )
    #expect(outcome.failure == nil)
    let poster = try size(folder(file, scratch).appending("poster.jpg"))
    #expect(poster.width == width)
    #expect(abs(poster.height - height) <= 1)
    let facts = try facts(file, scratch)
    #expect(facts.poster.width == poster.width && facts.poster.height == poster.height)
    let proxy = try #require(facts.proxy)
    #expect(proxy.width % 2 == 0 && proxy.height % 2 == 0)
    #expect(abs(proxy.width - width) <= 1 && abs(proxy.height - height) <= 1)
    #expect((facts.storyboard?.count ?? 0) > 0)
    #expect((facts.video.first?.hdr != nil) == arguments.contains("bt2020"))
  }

  @Test("a turned video stands upright")
  func turned() async throws {
    let scratch = try Scratch()
    _ = try await video(
      "-f lavfi -i testsrc=s=320x240:d=1 -pix_fmt yuv420p",
      duration: 1,
      named: "flat.mp4",
      in: scratch
    )
    let flat = scratch.path.appending("grants/flat.mp4").lossyText
    let file = try await video(
      "-i \(flat) -c copy -metadata:s:v rotate=90",
      duration: 1,
      in: scratch
    )
    _ = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    let poster = try size(folder(file, scratch).appending("poster.jpg"))
    #expect(poster.width == 240)
    #expect(poster.height == 320)
    let facts = try facts(file, scratch)
    #expect(facts.video.first?.rotation == 270)
    #expect(facts.proxy?.width == 240 && facts.proxy?.height == 320)
  }

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

  @Test("interlaced, stretched, with two mono tracks, clipped and then silent: all of it is found")
  func master() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc2=s=360x288:r=50:d=3 -f lavfi -i sine=f=500:d=0.8,volume=40,apad=whole_dur=3 "
        + "-filter_complex [0:v]interlace=scan=tff,setsar=2[v];[1:a]asplit[l][r] -map [v] -map [l] "
        + "-map [r] -ac 1 -c:a pcm_s16le -c:v mpeg2video -b:v 4M -flags +ildct+ilme -top 1 "
        + "-timecode 01:00:00:00",
      duration: 3,
      named: "master.mov",
      in: scratch
    )
    let outcome = try await preview(scratch, ["burn_timecode": .bool(true)]).deliver(
      handoff("h", [file.identifier]),
      file.grants
    )
    #expect(outcome.output?["waveform"] != nil)
    let facts = try facts(file, scratch)
    let kinds = Set(facts.findings.map(\.kind))
    #expect(kinds.isSuperset(of: [.interlaced, .anamorphic, .clipping, .silence]), "\(kinds)")
    #expect(facts.loudness?.of == "tracks 1 and 2")
    #expect(facts.audio.map(\.isInProxy) == [true, true])
    #expect(facts.proxy?.width == 720 && facts.proxy?.height == 288)
    #expect(facts.proxy?.hasAudio == true)
    #expect(facts.proxy?.changes == ["deinterlaced", "stretched to square pixels"])
    #expect(facts.timecode == "01:00:00:00")
    let silence = try #require(facts.findings.first { $0.kind == .silence })
    #expect(abs((silence.start ?? 0) - 0.8) < 0.1)
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

  @Test("the broker is given poster and proxy, and doctor what was looked at")
  func registered() async throws {
    let scratch = try Scratch()
    let file = try await video(
      "-f lavfi -i testsrc=s=64x48:d=0.2 -pix_fmt yuv420p",
      duration: 0.2,
      in: scratch
    )
    try await preview(scratch).run { broker, _ in
      broker.grant(file.identifier, file.asset)
      let _: SubmitAnswer = try await broker.ask(.submit, handoff("h", [file.identifier]))
      #expect(try await broker.nextResult().outcome.output != nil)
      #expect(broker.renditions.map(\.name.text) == ["poster", "proxy"])
      #expect(broker.progress.contains { $0.fraction ?? 0 > 0 })
      let status: StatusAnswer = try await broker.ask(.status, StatusQuestion(checks: true))
      let checks = try #require(status.checks)
      #expect(checks.map(\.name) == ["program", "encoder", "tone_mapping", "font", "folder"])
      #expect(!checks.contains { !$0.passed && $0.name != "font" })
    }
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

  private static let expected: [String: Finding.Kind] = [
    "mp4_av1_hdr10_vertical.mp4": .hdr, "mp4_fragmented_rot90.mp4": .rotated,
    "mp4_no_timescale_rot_overflow.mp4": .damaged, "mts_avchd_sony.mts": .interlaced,
    "mov_timecode_track_2997.mov": .anamorphic, "mkv_multi_audio_8_subs.mkv": .audioTracks,
    "avi_mjpeg_pcm_camera.AVI": .clipping, "mp4_one_frame_40ms.mp4": .short,
  ]

  /// One of each kind, with or without something to find; the browser test has more.
  private static let others: Set<String> = [
    "mov_prores422hq.mov", "webm_vp9_bad_bitstream_12336px.webm", "mp4_encrypted_cenc.mp4",
    "mp4_broken_no_moov.mp4", "mp4_fragmented_offset_143165s.mp4", "mp4_vvc.mp4",
    "mp4_audio_only.mp4",
  ]

  @Test("real files have previews, as far as ffmpeg reads them")
  func media() async throws {
    guard let media = CollectedMedia.folder(for: "previews of real files") else { return }
    let scratch = try Scratch()
    let names = Self.others.union(Self.expected.keys)
    let rows = try CollectedMedia.rows(media).filter { names.contains($0.name.lossyText) }
    #expect(rows.count == names.count)
    try await preview(scratch, ["proxy_height": .integer(180)]).run { broker, _ in
      for (index, row) in rows.enumerated() {
        let file = try Granted(file: media.appending(row.name))
        broker.grant(file.identifier, file.asset)
        let _: SubmitAnswer = try await broker.ask(
          .submit,
          handoff("h\(index)", [file.identifier])
        )
        let outcome = try await broker.nextResult().outcome
        if let failure = outcome.failure { #expect(failure.effect == Effect.none) }
        // Debian's ffmpeg has no decoder for VVC.
        let isReadable = row.verdict.hasPrefix("accept") && !row.name.lossyText.contains("vvc")
        if isReadable { #expect(outcome.output != nil, "\(row.name): \(outcome)") }
        if let expected = Self.expected[row.name.lossyText] {
          let kinds = try facts(file, scratch).findings.map(\.kind)
          #expect(kinds.contains(expected), "\(row.name): \(kinds)")
        }
      }
    }
  }
}
