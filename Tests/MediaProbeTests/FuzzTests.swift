import Glibc
import HandoffCore
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Hostile files", .timeLimit(.minutes(2)))
struct FuzzTests {
  @Test("flipped bytes never hang the probe or end it", arguments: [1, 2, 3] as [UInt64])
  func flippedBytes(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var samples: [[UInt8]] = []
    for sample in SampleVideo.allCases {
      samples.append(try ProbeFixture.read(try await sample.path()))
    }
    let originals = samples
    try await withProbe { fixture, folder in
      let deadline = ContinuousClock.now.advanced(by: .seconds(4))
      var count = 0
      while ContinuousClock.now < deadline || count < 20 {
        var bytes = originals[Int.random(in: 0..<originals.count, using: &random)]
        // Headers and indexes lie at both ends.
        let reach = min(bytes.count, 4_096)
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          let distance = Int.random(in: 0..<reach, using: &random)
          let position = Bool.random(using: &random) ? distance : bytes.count - 1 - distance
          bytes[position] = UInt8.random(in: .min ... .max, using: &random)
        }
        let verdict = try await fixture.verdict(bytes, in: folder, named: "fuzzed")
        // Whatever was judged, the evidence says why.
        #expect(!verdict.evidence.isEmpty)
        #expect(verdict.isAccepted == (verdict.facts != nil), "seed \(seed), file \(count)")
        count += 1
      }
      let path = try await SampleVideo.mp4.path()
      #expect(try await fixture.verdict(path).judgement == .complete)
      print("fuzz: seed \(seed), \(count) files, \(fixture.processes.count) workers")
    }
  }
}
