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
      Self.misdeeds.map { (transport: transport, misdeed: $0, name: "\(transport)_\($0)") }
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
      #expect(try await untilAllAreUp(hostile)["pid"]?.integer == Int64(pid))
      let before = try BrokerVitals(of: pid)
      try await round(hostile, asset, names)
      let first = try await BrokerVitals.settled(pid, to: before, memory: BrokerVitals.kept)
      #expect(first.isBack(to: before, memory: BrokerVitals.kept), "\(before), then \(first)")
      // What the allocator has kept serves again: a second round that needs more than that leaks.
      _ = try await untilAllAreUp(hostile)
      try await round(hostile, asset, names)
      let second = try await BrokerVitals.settled(pid, to: first)
      #expect(second.isBack(to: first), "\(first), then \(second)")
    }
  }

  private func untilAllAreUp(_ hostile: HostileScene) async throws -> JSONValue {
    try await hostile.broker.wait("status") { status in
      let up = status["destinations"]?.elements.count { $0["status"]?.text == "up" }
      return up == 2 * Self.misdeeds.count + 1
    }
  }

  /// Has all of them misbehave at once, and a quick one work beside them.
  private func round(
    _ hostile: HostileScene,
    _ asset: String,
    _ names: [(transport: String, misdeed: String, name: String)]
  ) async throws {
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
  }
}
