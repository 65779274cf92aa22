import Glibc
import HandoffCore
import HandoffTestSupport
import LinuxSystem
import MediaProbe
import Paths
import Testing

/// Samples of every container kind, whole and damaged.
///
/// MPEG-TS, M2TS, FLV, MPEG program streams, Ogg, live Matroska and fragments without `mfra` declare no
/// end. A whole one is `notProvable`, and so is a copy that was cut at a lucky place: that is the honest
/// maximum for them. Everything else is `complete` when it is whole and never when it is not.
@Suite("Verdicts on samples of every container kind", .timeLimit(.minutes(5)))
struct SampleVerdictTests {
  @Test("a whole file is taken, with its facts", arguments: SampleVideo.allCases)
  func whole(_ sample: SampleVideo) async throws {
    let path = try await sample.path()
    try await withProbe { fixture, _ in
      let verdict = try await fixture.verdict(path)
      #expect(verdict.judgement == (sample.declaresNoEnd ? .notProvable : .complete))
      #expect(verdict.reason == nil)
      let facts = try #require(verdict.facts)
      #expect(facts.width == 320 && facts.height == 240 && facts.rotation == 0)
      #expect(facts.audioTracks == 1)
      #expect(abs(facts.duration - 2) < 0.06, "\(facts.duration) s")
      #expect(facts.videoCodec == sample.codec)
      #expect(facts.container == sample.container)
    }
  }

  @Test(
    "a copy that was cut or ends in zeros is never called complete",
    arguments: SampleVideo.allCases
  )
  func damaged(_ sample: SampleVideo) async throws {
    let bytes = try ProbeFixture.read(try await sample.path())
    try await withProbe { fixture, folder in
      for percent in [1, 25, 50, 75, 90, 95, 99] {
        let kept = bytes.count * percent / 100
        let cut = try await fixture.verdict(Array(bytes[..<kept]), in: folder, named: "cut")
        let zeros = [UInt8](repeating: 0, count: bytes.count - kept)
        let zeroed = try await fixture.verdict(bytes[..<kept] + zeros, in: folder, named: "zeroed")
        #expect(zeroed.judgement == .incomplete, "zeros from \(percent) %: \(zeroed)")
        if sample.declaresNoEnd {
          #expect(cut.judgement != .complete, "cut at \(percent) %: \(cut)")
        } else {
          #expect(cut.judgement == .incomplete, "cut at \(percent) %: \(cut)")
          #expect(cut.facts == nil && cut.reason != nil)
        }
      }
    }
  }

  @Test("a file with a hole is incomplete, wherever the hole is", arguments: [1, 8, 15])
  func hole(sixteenths: Int) async throws {
    let bytes = try ProbeFixture.read(try await SampleVideo.quickTime.path())
    try await withProbe { fixture, folder in
      let path = folder.appending("sparse.mov")
      let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT)
      let start = bytes.count * sixteenths / 16 / 4_096 * 4_096
      try checked("ftruncate") { ftruncate(file.rawValue, off_t(bytes.count)) }
      try file.write(Array(bytes[..<start]))
      try checked("lseek") { lseek(file.rawValue, off_t(start + 4_096), SEEK_SET) }
      try file.write(Array(bytes[(start + 4_096)...]))
      let verdict = try await fixture.verdict(path)
      #expect(verdict.judgement == .incomplete)
      #expect(verdict.evidence.contains { $0.check == .holes && !$0.passed } || sixteenths == 15)
    }
  }

  @Test("a free or uuid box after the end is no defect")
  func trailingBoxes() async throws {
    for sample in [SampleVideo.mp4, .faststart, .fragmented] {
      let bytes = try ProbeFixture.read(try await sample.path())
      let free: [UInt8] = [0, 0, 0, 16] + Array("free".utf8) + [0, 0, 0, 0, 0, 0, 0, 9]
      let empty: [UInt8] = [0, 0, 0, 16] + Array("free".utf8) + [UInt8](repeating: 0, count: 8)
      let uuid: [UInt8] = [0, 0, 0, 28] + Array("uuid".utf8) + (1...20).map { UInt8($0) }
      try await withProbe { fixture, folder in
        for tail in [free, empty, uuid, uuid + free + free] {
          let verdict = try await fixture.verdict(bytes + tail, in: folder, named: "tail.mp4")
          #expect(verdict.judgement == .complete, "\(verdict)")
        }
        for partial in 1..<16 {
          let verdict = try await fixture.verdict(
            bytes + free.prefix(partial),
            in: folder,
            named: "partial.mp4"
          )
          #expect(verdict.judgement == .incomplete, "\(partial) bytes: \(verdict)")
        }
      }
    }
  }

  @Test("a turned video has the width and height as displayed")
  func rotation() async throws {
    var bytes = try ProbeFixture.read(try await SampleVideo.faststart.path())
    let header = try #require(bytes.firstRange(of: Array("tkhd".utf8))).upperBound
    // The matrix of ISO/IEC 14496-12, 8.3.2, in 16.16 (and 2.30): a quarter turn clockwise.
    let matrix: [UInt32] = [0, 0x1_0000, 0, 0xffff_0000, 0, 0, 0, 0, 0x4000_0000]
    let encoded = matrix.flatMap { value in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
    bytes.replaceSubrange((header + 40)..<(header + 76), with: encoded)
    let turned = bytes
    try await withProbe { fixture, folder in
      let verdict = try await fixture.verdict(turned, in: folder, named: "turned.mp4")
      let facts = try #require(verdict.facts)
      #expect(facts.rotation == 90)
      #expect(facts.width == 240 && facts.height == 320)
    }
  }

  @Test("what is no video is refused, whatever its name")
  func otherFiles() async throws {
    let page = Array("<!DOCTYPE html><html><body>Your download will begin shortly".utf8)
    try await withProbe { fixture, folder in
      for (bytes, expected): ([UInt8], ProbeVerdict.Judgement) in [
        (page, .unsuitable), ([], .incomplete), ([0, 0, 0], .incomplete),
        ([UInt8](repeating: 0, count: 1 << 20), .incomplete),
        (page + [UInt8](repeating: 0, count: 1 << 20), .incomplete),
      ] {
        let verdict = try await fixture.verdict(bytes, in: folder, named: "page.mp4")
        #expect(verdict.judgement == expected, "\(verdict)")
        #expect(verdict.reason != nil)
      }
    }
  }

  @Test("a file of another size than its caller has seen is incomplete")
  func changedSize() async throws {
    let path = try await SampleVideo.mp4.path()
    try await withProbe { fixture, _ in
      let file = try FileDescriptor.open(path, O_RDONLY)
      let verdict = await fixture.probe.verdict(for: file, size: 17)
      #expect(verdict.judgement == .incomplete)
    }
  }

  @Test("probing leaves the caller's file position alone")
  func position() async throws {
    let path = try await SampleVideo.mp4.path()
    try await withProbe { fixture, _ in
      let file = try FileDescriptor.open(path, O_RDONLY)
      lseek(file.rawValue, 4_321, SEEK_SET)
      let verdict = await fixture.probe.verdict(for: file, size: try file.status().size)
      #expect(verdict.judgement == .complete)
      #expect(lseek(file.rawValue, 0, SEEK_CUR) == 4_321)
    }
  }
}

extension SampleVideo {
  fileprivate var codec: String {
    switch self {
    case .webm: "vp9"
    case .mobile, .avi: "mpeg4"
    case .programStream: "mpeg2video"
    case .ogg: "theora"
    default: "h264"
    }
  }

  fileprivate var container: String {
    switch self {
    case .mp4, .faststart, .fragmented, .openFragments: "mp4"
    case .quickTime: "mov"
    case .mobile: "3gp"
    case .matroska, .liveMatroska: "matroska"
    case .webm: "webm"
    case .avi: "avi"
    case .transportStream, .cameraStream: "mpegts"
    case .flash: "flv"
    case .programStream: "mpeg"
    case .ogg: "ogg"
    }
  }
}
