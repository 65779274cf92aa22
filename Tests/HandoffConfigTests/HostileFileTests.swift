import HandoffConfig
import HandoffCore
import Paths
import Testing

@Suite("Hostile files")
struct HostileFileTests {
  @Test(
    "a configuration or sidecar with random changes is decoded or refused",
    arguments: [UInt64(1), 2]
  )
  func mutations(seed: UInt64) {
    var random = LinearCongruence(state: seed)
    let sample = Array(SampleConfiguration.text.utf8)
    let sidecar = Array("title = \"t\"\nhandoff = []\npublish_at = 2026-12-24T18:00:00\n".utf8)
    for _ in 0..<100 {
      let configuration = changed(sample, with: &random)
      let wasRefused = isRefused { () throws(ConfigurationError) in
        _ = try Configuration.decode(
          bytes: configuration,
          file: "handoff.toml",
          directory: "/etc/handoff",
          resolve: { $0 }
        )
      }
      let wasSidecarRefused = isRefused { () throws(ConfigurationError) in
        _ = try Sidecar.decode(
          bytes: changed(sidecar, with: &random),
          file: "a.handoff.toml",
          folder: DropFolderSettings(path: "/exports"),
          callbacks: []
        )
      }
      // Either is right; what matters is to come here, and to have a reason for each refusal.
      #expect(wasRefused != nil && wasSidecarRefused != nil, "seed \(seed)")
    }
  }

  /// Whether a call throws; nil if it throws without a problem that says why.
  private func isRefused(_ call: () throws(ConfigurationError) -> Void) -> Bool? {
    do throws(ConfigurationError) {
      try call()
      return false
    } catch {
      return error.problems.isEmpty ? nil : true
    }
  }

  private func changed(
    _ bytes: [UInt8],
    with random: inout LinearCongruence
  ) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes.remove(at: index)
      default:
        bytes.insert(contentsOf: Array("[{.\"'=#\n".utf8).shuffled(using: &random), at: index)
      }
    }
    return bytes
  }
}

/// The same numbers for the same seed (Knuth's MMIX constants, upper half doubled).
private struct LinearCongruence: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    func half() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 32
    }
    return half() << 32 | half()
  }
}
