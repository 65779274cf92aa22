import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("preview", .timeLimit(.minutes(5)))
struct PreviewTests {
  private static let ffmpeg: BytePath = "/usr/bin/ffmpeg"

  private func preview(_ scratch: Scratch) -> PluginProcess {
    PluginProcess(
      name: "handoff-preview",
      settings: .object(["folder": .string(scratch.out.lossyText)]),
      work: scratch.work
    )
  }

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
    let names = Set(try Directory.entries(of: folder(file, scratch)).map(\.name))
    #expect(names == ["index.html", "poster.jpg", "contact.jpg"])
    #expect(try await brightness(folder(file, scratch).appending("poster.jpg"), scratch) > 40)
    let page = try FileDescriptor.open(folder(file, scratch).appending("index.html"), O_RDONLY)
    let html = String(decoding: try page.readAll(limit: 100_000), as: UTF8.self)
    #expect(html.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; more"))
    #expect(!html.contains("<script"))
    #expect(html.contains(file.asset.sha256.hex))
  }

  @Test(
    "short, odd-sized and turned videos, and those of unknown duration, have a preview",
    arguments: [
      ("-f lavfi -i testsrc=s=320x240:r=25 -frames:v 1 -pix_fmt yuv420p", 0.04, 320, 240),
      ("-f lavfi -i testsrc=s=321x243:d=1 -pix_fmt yuv444p", 1, 321, 243),
      ("-f lavfi -i testsrc=s=320x240:d=1 -pix_fmt yuv420p", nil, 320, 240),
      ("-f lavfi -i testsrc=s=1920x1080:d=0.5 -pix_fmt yuv420p", 0.5, 1280, 720),
      ("-f lavfi -i testsrc=s=320x240:d=1 -pix_fmt yuv420p", 500, 320, 240),
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
  }

  @Test("what is no video fails with ffmpeg's own words and leaves nothing")
  func junk() async throws {
    let scratch = try Scratch()
    let file = try Granted(Array("<html>not found</html>".utf8), named: "a.mp4", in: scratch)
    let outcome = try await preview(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.code == .unsupportedMedia)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(outcome.failure?.message.contains("Invalid data") == true)
    #expect(try Directory.entries(of: scratch.out).isEmpty)
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
    // Every third step: each costs six runs of ffmpeg.
    for ordinal in stride(from: 1, to: 60, by: 3) {
      let ended = try await preview(scratch).deliverOverCrashes(
        handoff("h\(ordinal)", [file.identifier]),
        file.grants,
        faults: ["*:\(ordinal):kill"]
      )
      #expect(ended.outcome.output != nil, "step \(ordinal)")
      #expect(try Directory.entries(of: scratch.out).count == 1, "step \(ordinal)")
      #expect(try scratch.files().count == 3, "step \(ordinal)")
      if ended.processes == 1 { break }
      steps = ordinal
    }
    #expect((5..<60).contains(steps))
  }

  @Test("real files have previews, as far as ffmpeg reads them")
  func media() async throws {
    guard let media = CollectedMedia.folder(for: "previews of real files") else { return }
    let scratch = try Scratch()
    let rows = try CollectedMedia.rows(media)
    try await preview(scratch).run { broker, _ in
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
      }
    }
  }
}
