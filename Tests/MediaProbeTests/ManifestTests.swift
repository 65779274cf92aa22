import Glibc
import HandoffCore
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The real files that others have collected, if they are there (`HANDOFF_MEDIA`).
@Suite("Verdicts on collected real files", .timeLimit(.minutes(5)))
struct ManifestTests {
  @Test("each file gets the verdict that its list asks for, and the right facts")
  func verdicts() async throws {
    guard let folder = CollectedMedia.folder(for: "probe verdicts") else { return }
    let rows = try CollectedMedia.rows(folder)
    #expect(rows.count > 20)
    try await withProbe { fixture, _ in
      for row in rows {
        let verdict = try await fixture.verdict(folder.appending(row.name))
        switch row.verdict {
        case let text where text.hasPrefix("accept only if rotation"):
          #expect(verdict.judgement != .failed && verdict.facts?.rotation ?? 0 == 0)
        case let text where text.hasPrefix("accept"):
          #expect(verdict.isAccepted, "\(row.name): \(verdict)")
        default:
          #expect(!verdict.isAccepted && verdict.judgement != .failed, "\(row.name): \(verdict)")
          #expect(verdict.reason != nil && verdict.facts == nil)
        }
        if let expected = ExpectedMedia.facts[row.name.displayText] {
          expectEqual(verdict.facts, expected, row.name.displayText)
        }
        if let expected = ExpectedMedia.judgements[row.name.displayText] {
          #expect(verdict.judgement == expected, "\(row.name): \(verdict)")
        }
      }
    }
  }

  @Test("a bitstream that cannot be decoded is refused, also where its segment is whole")
  func badBitstream() async throws {
    guard let folder = CollectedMedia.folder(for: "a bad bitstream") else { return }
    var bytes = try ProbeFixture.read(folder.appending("webm_vp9_bad_bitstream_12336px.webm"))
    let segment = try #require(bytes.firstRange(of: [0x18, 0x53, 0x80, 0x67])).upperBound
    // The size becomes "unknown", so that only the packets are left to be judged.
    let length = bytes[segment].leadingZeroBitCount + 1
    bytes[segment] = 0xff >> UInt8(length - 1)
    for offset in 1..<length { bytes[segment + offset] = 0xff }
    let patched = bytes
    try await withProbe { fixture, folder in
      let verdict = try await fixture.verdict(patched, in: folder, named: "bad.webm")
      #expect(!verdict.isAccepted && verdict.judgement != .failed, "\(verdict)")
    }
  }

  private func expectEqual(_ facts: MediaFacts?, _ expected: ExpectedMedia.Facts, _ name: String) {
    guard let facts else {
      Issue.record("\(name): no facts")
      return
    }
    #expect(abs(facts.duration - expected.duration) <= 0.05, "\(name): \(facts.duration) s")
    #expect(facts.videoCodec == expected.codec, "\(name)")
    #expect(facts.width == expected.width && facts.height == expected.height, "\(name)")
    #expect(facts.rotation == expected.rotation, "\(name)")
    #expect(facts.audioTracks == expected.audio, "\(name)")
  }
}
