import Glibc
import HandoffCore
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Throughput", .timeLimit(.minutes(2)))
struct ThroughputTests {
  @Test("many files at once are all probed, and the rate is printed")
  func rate() async throws {
    let path = try await SampleVideo.mp4.path()
    try await withProbe { fixture, _ in
      _ = try await fixture.verdict(path)
      let count = 1_000
      let start = ContinuousClock.now
      let judged = try await withThrowingTaskGroup(of: Bool.self) { group in
        for _ in 0..<count {
          group.addTask { try await fixture.verdict(path).judgement == .complete }
        }
        return try await group.reduce(0) { $1 ? $0 + 1 : $0 }
      }
      #expect(judged == count)
      let seconds = start.duration(to: .now) / .seconds(1)
      print("probe: \(Int(Double(count) / seconds)) files/s with two workers")
    }
  }
}
