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
    arguments: [("journal", 1), ("http.answer", 1)]
  )
  func crashes(point: String, kills: Int) async throws {
    let steps = try await KillWalk(point: point, kills: kills).run { faults in
      let scene = try SocialScene()
      let server = scene.server
      if point == "http.answer" { server.fail(.publish, .dropAfter) }
      server.onDone { step in if step == .scheduled { server.publishScheduled() } }
      return try await scene.deliverOverCrashes(faults, metadata: Self.inAnHour())
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
}
