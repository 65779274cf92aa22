import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import handoff_preview

@Suite("preview", .timeLimit(.minutes(5)))
struct PreviewTests: PreviewScene {
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
