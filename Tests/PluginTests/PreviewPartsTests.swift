import HandoffProtocol
import Testing

@testable import handoff_preview

@Suite("preview: planning and reading")
struct PreviewPartsTests {
  @Test(
    "pictures fit lying and standing, and are never enlarged",
    arguments: [
      (1920, 1080, 1280, 720), (1080, 1920, 720, 1280), (1440, 1080, 960, 720),
      (853, 481, 854, 482), (2, 2, 2, 2), (4096, 1716, 1280, 536), (1000, 1000, 720, 720),
    ]
  )
  func fits(width: Int, height: Int, fittedWidth: Int, fittedHeight: Int) {
    let fitted = PictureSize(width: width, height: height).fitted(short: 720, isEven: true)
    #expect(fitted == PictureSize(width: fittedWidth, height: fittedHeight))
  }

  @Test(
    "a storyboard has at most a hundred tiles, whatever the length",
    arguments: [0.04, 0.5, 4.9, 20, 20.01, 362.767, 7200, 86_400, 500_000]
  )
  func storyboards(duration: Double) {
    let size = PictureSize(width: 1920, height: 1080)
    let board = Storyboard(duration: duration, size: size)
    let count = board.tiles(in: duration)
    #expect((1...100).contains(count))
    #expect(board.sheetCount(count) == 1)
    #expect(Double(count - 1) * board.interval.seconds < duration)
    let cues = board.cues(count, duration: duration)
    #expect(cues.hasPrefix("WEBVTT\n\n00:00:00.000 --> "))
    #expect(cues.split(separator: "\n").count == 1 + 2 * count)
  }

  @Test("the poster is neither black nor of one colour while there is another")
  func posters() {
    let black = PictureLook(brightness: 16, low: 16, high: 17, entropy: 0.1, blur: 1)
    let plain = PictureLook(brightness: 120, low: 119, high: 121, entropy: 0.1, blur: 1)
    let blurred = PictureLook(brightness: 100, low: 40, high: 200, entropy: 0.7, blur: 18)
    let sharp = PictureLook(brightness: 100, low: 40, high: 200, entropy: 0.7, blur: 5)
    #expect(PictureLook.best(of: [black, plain, blurred, sharp]) == 3)
    #expect(PictureLook.best(of: [black, plain]) == 1)
    #expect(PictureLook.best(of: [black, black]) == 0)
  }

  @Test(
    "timecodes are read and written, and what is none is not one",
    arguments: [
      ("01:00:00;02", "01:00:00;02"), ("00:59:59.29", "00:59:59;29"),
      ("10:11:12:13", "10:11:12:13"), ("1:2:3:4", nil), ("24:00:00:00", nil), ("x", nil),
    ] as [(String, String?)]
  )
  func timecodes(text: String, expected: String?) {
    #expect(Timecode(text)?.description == expected)
  }

  @Test("a rotation that is no number, and members of another type, do no harm")
  func report() throws {
    let json = """
      {"streams": [{"index": 0, "codec_type": "video", "codec_name": "h264", "width": 320, "height": 240,
      "side_data_list": [{"side_data_type": "Display Matrix", "rotation": -9223372036854775808}],
      "nb_frames": 7, "tags": []}, {"index": 1, "codec_type": "audio"}], "format": {"duration": "N/A"}}
      """
    let video = try #require(try MediaReport(Array(json.utf8)).videoFacts.first)
    #expect(video.rotation == 0)
    #expect(video.frameCount == nil)
    #expect(video.displayWidth == 320)
  }

  @Test("frames at uneven distances are a variable rate; rounded times are not")
  func rates() {
    func reading(_ times: [Double]) -> PictureReading {
      var reading = PictureReading()
      for time in times { reading.take("frame:0 pts:0 pts_time:\(time)") }
      return reading
    }
    #expect(!reading((0..<60).map { (Double($0) / 29.97 * 1000).rounded() / 1000 }).isVariable)
    #expect(reading((0..<60).map { Double($0) * ($0 % 3 == 0 ? 0.04 : 0.041) }).isVariable)
    #expect(!reading([0]).isVariable)
    // Absurd times are times too.
    #expect(reading([0, -9.2e18, 9.2e18, .greatestFiniteMagnitude, 1]).frameCount == 5)
  }

  @Test("stretches that are open at the end end there")
  func stretches() {
    var reading = PictureReading()
    for line in [
      "frame:0 pts:0 pts_time:0", "lavfi.black_start=0", "frame:1 pts:1 pts_time:0.5",
      "lavfi.black_end=0.5", "lavfi.freezedetect.freeze_start=0.5", "frame:2 pts:2 pts_time:1",
    ] { reading.take(line) }
    #expect(reading.blackStretches == [Stretch(start: 0, end: 0.5)])
    #expect(reading.frozenStretches == [Stretch(start: 0.5, end: 1.5)])
    #expect(reading.frameCount == 3)
  }

  @Test("complaints are counted, without addresses and without what says nothing")
  func complaints() {
    let log = ComplaintLog()
    log.take("[h264 @ 0x55d0c8a4f900] error while decoding MB 4 0")
    log.take("[h264 @ 0x55d0c8a4f900] again")
    #expect(!log.complaints.hasNoSpace)
    log.take("av_interleaved_write_frame(): No space left on device")
    log.take("Conversion failed!")
    #expect(log.complaints.hasNoSpace)
    #expect(log.complaints.count == 3)
    #expect(log.complaints.first == "[h264] error while decoding MB 4 0")
    #expect(log.complaints.reason == "av_interleaved_write_frame(): No space left on device")
  }

  @Test("sheets of a storyboard are known by their names, and nothing else is taken for one")
  func sheets() {
    #expect(Storyboard.isSheet("storyboard1.jpg") && Storyboard.isSheet("storyboard100.jpg"))
    for name in [
      "storyboard.jpg", "storyboard0.jpg", "storyboard01.jpg", "storyboard-2.jpg", "x1.jpg",
    ] {
      #expect(!Storyboard.isSheet(name), "\(name)")
    }
  }
}
