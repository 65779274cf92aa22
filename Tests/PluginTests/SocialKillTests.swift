import HandoffProtocol
import HandoffTestSupport
import MastodonStandIn
import Testing

@Suite("social: killed", .timeLimit(.minutes(3)))
struct SocialKillTests {
  @Test(
    "killed at every step, it publishes exactly once, also when it is killed again and when answers are lost",
    arguments: [("http.send", 1), ("http.answer", 1), ("journal", 1), ("http.answer", 2)]
  )
  func crashesHere(point: String, kills: Int) async throws {
    let steps = try await KillWalk(point: point, kills: kills).run { faults in
      var rules = StandInRules()
      rules.processingPolls = 1
      rules.honoursKeys = kills == 1
      let scene = try SocialScene(rules: rules)
      if kills == 2 { scene.server.fail(.publish, .dropAfter) }
      return try await scene.deliverOverCrashes(faults)
    }
    #expect(steps >= 4)
    print("social: \(kills) kills at \(point): \(steps) points")
  }

  @Test(
    "killed right after the server has acted and before it answers, it publishes exactly once",
    arguments: [StandInStep.upload, .media, .publish]
  )
  func crashesThere(step: StandInStep) async throws {
    var rules = StandInRules()
    rules.processingPolls = 1
    let scene = try SocialScene(rules: rules)
    let victim = SocialVictim()
    scene.server.onDone { done in
      if done == step { victim.kill() }
    }
    let processes = try await scene.deliverOverCrashes(["none:1:kill"]) { victim.aim(at: $0) }
    #expect(processes == 2)
  }
}
