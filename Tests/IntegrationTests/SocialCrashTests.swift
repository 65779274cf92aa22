import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import MastodonStandIn
import Paths
import Synchronization
import Testing

/// `kill -9` of the broker, and its plugin with it, right after the service has done a step.
@Suite("Social: crashes of the broker", .timeLimit(.minutes(5)))
struct SocialCrashTests {
  private static let token = "not-a-real-token"

  @Test(
    "killed after each of the service's steps, it publishes exactly once and says so",
    arguments: [
      [StandInStep.instance], [.upload], [.media], [.publish], [.upload, .publish],
    ]
  )
  func killed(steps: [StandInStep]) async throws {
    let server = MastodonStandIn(token: Self.token, processingPolls: 1)
    let configuration = Self.configuration(port: try server.start())
    try await withTemporaryDirectory { root in
      let broker = try RunningBroker(
        root: root,
        configuration: configuration,
        environment: ["SOCIAL_TOKEN=\(Self.token)"]
      )
      let victim = BrokerVictim(steps)
      server.onDone { victim.kill(after: $0) }
      try await broker.start()
      victim.aim(at: broker.processID)
      let scene = Scene(broker: broker)
      try scene.write(try await Scene.video(1), to: "one.mp4")
      for kill in 1...steps.count {
        let hasDied = try await poll { victim.kills >= kill ? true : nil }
        try #require(hasDied == true, "\(steps) did not come")
        await broker.end(SIGKILL)
        try await broker.start()
        victim.aim(at: broker.processID)
      }
      let handoffs = try await broker.wait("handoffs") { handoffs in
        handoffs.elements.contains {
          ["succeeded", "failed", "outcome_unknown"].contains($0["status"]?.text)
        }
      }
      #expect(handoffs.elements.map { $0["status"]?.text } == ["succeeded"])
      #expect(server.statuses.count == 1)
      #expect(server.scheduled.isEmpty)
      await broker.end(SIGKILL)
    }
    await server.stop()
  }

  private static func configuration(port: UInt16) -> String {
    Scene.configuration(
      handoff: ["social"],
      destinations: """
        [destination.social]
        transport = "plugin"
        command = ["handoff-social"]
        network = true
        env = ["SOCIAL_TOKEN"]
        retry = { for = "1h", first = "100ms", max = "1s" }
        [destination.social.settings]
        server = "http://127.0.0.1:\(port)"
        token_env = "SOCIAL_TOKEN"
        poll_interval_s = 0.05
        in_flight_s = 0.2
        """
    )
  }
}

/// A broker's process that is killed after some steps, each time once.
private final class BrokerVictim: Sendable {
  private struct State {
    var steps: [StandInStep]
    var process: Int32?
    var kills = 0
  }

  private let state: Mutex<State>

  init(_ steps: [StandInStep]) {
    state = Mutex(State(steps: steps))
  }

  var kills: Int { state.withLock { $0.kills } }

  func aim(at process: Int32?) {
    state.withLock { $0.process = process }
  }

  func kill(after step: StandInStep) {
    state.withLock { state in
      guard let process = state.process, state.steps.first == step else { return }
      _ = Glibc.kill(process, SIGKILL)
      state.process = nil
      state.steps.removeFirst()
      state.kills += 1
    }
  }
}
