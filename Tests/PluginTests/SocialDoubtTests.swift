import HandoffProtocol
import HandoffTestSupport
import MastodonStandIn
import Testing

@Suite("social: in doubt", .timeLimit(.minutes(3)))
struct SocialDoubtTests {
  /// A delivery whose publication has this fault, and that then can neither repeat it nor look.
  private static func doubtful(_ fault: StandInFault) async throws -> SocialScene {
    let scene = try SocialScene()
    scene.server.fail(.publish, fault, .refuse(401))
    scene.server.fail(.account, .pass, .refuse(401), .refuse(401))
    let outcome = try await scene.deliver()
    #expect(outcome.failure?.effect == .unknown, "\(outcome)")
    return scene
  }

  @Test(
    "an answer that is lost after publishing does not publish twice",
    arguments: [
      [StandInFault.dropAfter], [.dropBefore], [.refuse(500)], [.garble],
      [.dropAfter, .refuse(503), .dropAfter], [.dropAfter, .refuse(401)],
    ]
  )
  func lostAnswers(faults: [StandInFault]) async throws {
    for honoursKeys in [true, false] {
      var rules = StandInRules()
      rules.honoursKeys = honoursKeys
      let scene = try SocialScene(rules: rules)
      for fault in faults { scene.server.fail(.publish, fault) }
      scene.expectOne(try await scene.deliver(), "honours keys: \(honoursKeys)")
    }
  }

  @Test("a request that the server still works on when its line has gone is not repeated meanwhile")
  func underWay() async throws {
    for isKilled in [false, true] {
      let scene = try SocialScene(settings: ["in_flight_s": .number(1.5)])
      scene.server.fail(.publish, .doLate(.milliseconds(700)))
      let victim = SocialVictim()
      scene.server.onDone { if $0 == .publish { victim.kill() } }
      let processes = try await scene.deliverOverCrashes(isKilled ? ["none:1:kill"] : []) {
        if isKilled { victim.aim(at: $0) }
      }
      #expect(processes == (isKilled ? 2 : 1))
      #expect(scene.server.count(.publish) == 1)
    }
  }

  @Test("what cannot be known is an unknown effect, and a person's retry finds it")
  func unknown() async throws {
    let scene = try await Self.doubtful(.dropAfter)
    #expect(scene.server.statuses.count == 1)
    scene.expectOne(try await scene.deliver(attempt: 2))
  }

  @Test("a server that is away for long when it is looked at is asked until it is back")
  func away() async throws {
    let scene = try SocialScene()
    let outage = [StandInFault](repeating: .refuse(503), count: 12)
    scene.server.fail(.publish, .dropAfter, .refuse(401))
    for fault in [.pass, .refuse(503)] + outage { scene.server.fail(.account, fault) }
    scene.expectOne(try await scene.deliver())
  }

  @Test(
    "too late for the key, or with a wrong clock, it looks for the status instead of posting again",
    arguments: [StandInFault.dropAfter, .dropBefore],
    ["2020-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"]
  )
  func afterTheHour(fault: StandInFault, moment: String) async throws {
    let scene = try await Self.doubtful(fault)
    try scene.date(moment)
    // Where the account shows that it is not there, it is published now.
    scene.expectOne(try await scene.deliver(attempt: 2))
    #expect(scene.server.count(.publish) == (fault == .dropAfter ? 2 : 3))
  }

  @Test(
    "another account's token proves nothing, at any time",
    arguments: [StandInFault.dropAfter, .dropBefore],
    [nil, "2020-01-01T00:00:00.000Z"]
  )
  func otherAccount(fault: StandInFault, moment: String?) async throws {
    let scene = try await Self.doubtful(fault)
    scene.server.changeAccount()
    if let moment { try scene.date(moment) }
    let outcome = try await scene.deliver(attempt: 2)
    if fault == .dropAfter {
      scene.expectOne(outcome)
    } else {
      #expect(outcome.failure?.effect == .unknown, "\(outcome)")
      #expect(scene.server.statuses.isEmpty)
    }
  }

  @Test("settings of another server do not publish what may be published already")
  func moved() async throws {
    let scene = try await Self.doubtful(.dropAfter)
    let other = try SocialScene()
    let moved = PluginProcess(
      name: scene.plugin.name,
      settings: other.plugin.settings,
      work: scene.plugin.work,
      environment: scene.plugin.environment
    )
    let second = try await moved.deliver(scene.handoff(attempt: 2), scene.file.grants)
    #expect(second.failure?.effect == .unknown)
    #expect(other.server.statuses.isEmpty && other.server.uploads.isEmpty)
  }
}
