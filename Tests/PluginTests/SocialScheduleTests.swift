import FoundationEssentials
import HandoffProtocol
import HandoffTestSupport
import MastodonStandIn
import Testing

@Suite("social: at a set time", .timeLimit(.minutes(3)))
struct SocialScheduleTests {
  private static func inAnHour() -> [String: JSONValue] {
    let seconds = Int64(Date.now.timeIntervalSince1970) + 3600
    return ["scheduled_at": .string(Timestamp(milliseconds: seconds * 1000).rfc3339)]
  }

  @Test("what is scheduled is done when its status is there, and not before")
  func waits() async throws {
    let scene = try SocialScene()
    let server = scene.server
    async let outcome = scene.deliver(metadata: Self.inAnHour())
    let post = try await poll { server.count(.scheduled) > 2 ? server.scheduled.first : nil }
    #expect(post?.status.text == "A title")
    #expect(server.statuses.isEmpty)
    server.publishScheduled()
    #expect(try await outcome.output?["id"]?.text == server.statuses.first?.id)
    #expect(server.count(.publish) == 1)
  }

  @Test(
    "killed at every step, it is scheduled once and published once",
    arguments: [("journal", 1), ("http.answer", 2)]
  )
  func crashes(point: String, kills: Int) async throws {
    let steps = try await KillWalk(point: point, kills: kills).run { faults in
      let scene = try SocialScene()
      let server = scene.server
      if kills == 2 { server.fail(.publish, .dropAfter) }
      server.onDone { step in if step == .scheduled { server.publishScheduled() } }
      let ended = try await scene.plugin.deliverOverCrashes(
        scene.handoff(metadata: Self.inAnHour()),
        scene.file.grants,
        faults: faults
      )
      #expect(server.statuses.count == 1 && server.scheduled.isEmpty, "\(faults)")
      #expect(ended.outcome.output?["id"]?.text == server.statuses.first?.id, "\(faults)")
      return ended.processes
    }
    #expect(steps >= 5)
    print("social, scheduled: \(kills) kills at \(point): \(steps) points")
  }

  @Test("what its owner deletes before its time was not published, and says so")
  func deleted() async throws {
    let scene = try SocialScene()
    let server = scene.server
    server.onDone { step in if step == .scheduled { server.deleteScheduled() } }
    let outcome = try await scene.deliver(metadata: Self.inAnHour())
    #expect(outcome.failure?.code == .interrupted)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(server.statuses.isEmpty)
  }

  @Test("a server that schedules nothing refuses")
  func unable() async throws {
    var rules = StandInRules()
    rules.schedules = false
    let scene = try SocialScene(rules: rules)
    let outcome = try await scene.deliver(metadata: Self.inAnHour())
    #expect(outcome.failure?.effect == Effect.none)
    #expect(scene.server.statuses.isEmpty)
  }

  @Test("an upload that the server has forgotten is sent again")
  func forgotten() async throws {
    let scene = try SocialScene()
    scene.server.fail(.publish, .refuse(429))
    let first = try await scene.deliver()
    #expect(first.failure?.code == .quota)
    scene.server.forgetUploads()
    let second = try await scene.deliver(attempt: 2)
    #expect(second.output?["id"]?.text == scene.server.statuses.first?.id)
    #expect(scene.server.uploads.count == 2)
  }

  @Test("settings of another server do not publish what may be published already")
  func moved() async throws {
    let scene = try SocialScene()
    scene.server.fail(.publish, .dropAfter, .refuse(401))
    scene.server.fail(.account, .refuse(401), .refuse(401))
    let first = try await scene.deliver()
    #expect(first.failure?.effect == .unknown)
    let other = try SocialScene()
    var settings = scene.plugin
    settings = PluginProcess(
      name: settings.name,
      settings: other.plugin.settings,
      work: settings.work,
      environment: settings.environment
    )
    let second = try await settings.deliver(scene.handoff(attempt: 2), scene.file.grants)
    #expect(second.failure?.effect == .unknown)
    #expect(other.server.statuses.isEmpty && other.server.uploads.isEmpty)
  }
}
