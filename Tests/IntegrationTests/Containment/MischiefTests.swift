import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Receivers that misbehave all at once, in one broker that must be as it was afterwards.
@Suite("Receivers that misbehave", .timeLimit(.minutes(2)))
struct MischiefTests {
  private static let misdeeds = [
    "calls", "dies", "endless", "flood", "foreign", "grandchildren", "hang", "long_line", "silent",
    "twice",
  ]

  @Test("leave the broker as it was, and delay nobody", arguments: ["require", "none"])
  func mischief(containment: String) async throws {
    let settings = "containment = \"\(containment)\"\nidle = \"2s\"\nceiling = \"25s\""
    let names = ["exec", "plugin"].flatMap { transport in
      Self.misdeeds.map { (transport, $0, "\(transport)_\($0)") }
    }
    try await HostileScene.run { hostile in
      HostileScene.shell("quick", "exit 0")
        + names.map { (transport: String, misdeed: String, name: String) -> String in
          hostile.destination(name, transport, ["misdeeds.py", transport, misdeed], settings)
        }
        .joined()
    } _: { hostile in
      let pid = try await hostile.brokerID
      let asset = try await hostile.importVideo(1)
      _ = try await hostile.sendAndWait(asset, to: "quick")
      // Every plugin is up.
      let count = Self.misdeeds.count
      let started = try await hostile.broker.wait("status") { status in
        status["destinations"]?.elements.count { $0["status"]?.text == "up" } == 2 * count + 1
      }
      #expect(started["pid"]?.integer == Int64(pid))
      let before = try BrokerVitals(of: pid)
      for (_, _, name) in names { try await hostile.begin(asset, to: name) }
      let start = ContinuousClock.now
      for _ in 0..<3 {
        #expect(try await hostile.sendAndWait(asset, to: "quick")["status"]?.text == "succeeded")
      }
      // Twenty receivers take both processors, so this is no measure of the broker alone.
      #expect(start.duration(to: .now) < .seconds(10))
      for (_, misdeed, name) in names {
        let handoff = try await hostile.handoff(to: name, in: HostileScene.ends)
        let succeeds = ["flood", "grandchildren", "twice"].contains(misdeed)
        // What exec knows nothing of ends as an empty success: exit code 0.
        let isPlain = name.hasPrefix("exec") && ["calls", "silent"].contains(misdeed)
        #expect(
          (handoff["status"]?.text == "succeeded") == (succeeds || isPlain),
          "\(name): \(handoff)"
        )
      }
      let after = try await BrokerVitals.settled(pid, to: before)
      #expect(after.isBack(to: before), "\(before), then \(after)")
    }
  }
}
