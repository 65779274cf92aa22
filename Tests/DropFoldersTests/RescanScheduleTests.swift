import HandoffCore
import Testing

@testable import DropFolders

@Suite("RescanSchedule")
struct RescanScheduleTests {
  private func schedule(_ mode: FolderMode = .events, uncovered: Int = 0) -> RescanSchedule {
    var schedule = RescanSchedule(pollIntervals: [.seconds(5)], at: .zero)
    schedule.update(FolderStatus(mode: mode, uncovered: uncovered), 0, at: .zero)
    _ = schedule.due(at: .milliseconds(500))
    return schedule
  }

  /// The moments up to a limit at which a request is made.
  private func moments(
    of request: WatchThread.Request,
    _ schedule: inout RescanSchedule,
    until limit: Duration
  ) -> [Duration] {
    var moments: [Duration] = []
    while schedule.next <= limit {
      let now = schedule.next
      if schedule.due(at: now).contains(request) { moments.append(now) }
    }
    return moments
  }

  @Test("a watched folder is listed slowly, as a safety net")
  func listsSlowly() {
    var schedule = schedule()
    #expect(
      moments(of: .list(0), &schedule, until: .seconds(1300)) == [.seconds(600), .seconds(1200)]
    )
  }

  @Test(
    "a folder that is polled or partly uncovered is listed every poll interval",
    arguments: [0, 1]
  )
  func polls(uncovered: Int) {
    var schedule = schedule(uncovered == 0 ? .poll : .events, uncovered: uncovered)
    #expect(moments(of: .list(0), &schedule, until: .seconds(16)).count == 3)
  }

  @Test("a root that is away is looked for often, a present one seldom")
  func looksForRoots() {
    var away = schedule(.offline)
    #expect(moments(of: .checkRoots, &away, until: .seconds(3)).count == 5)
    var present = schedule()
    #expect(moments(of: .checkRoots, &present, until: .seconds(11)).count == 2)
  }

  @Test("a first overflow is answered soon, one after the other ever more slowly (case 106)")
  func backsOff() {
    var schedule = schedule()
    var now: Duration = .seconds(10)
    var waits: [Duration] = []
    for _ in 0..<7 {
      schedule.overflowed(at: now)
      // Further overflows before the answer change nothing.
      schedule.overflowed(at: now)
      let answer = moments(of: .watchEverything, &schedule, until: now + .seconds(31))
      #expect(answer.count == 1)
      waits.append((answer.first ?? now) - now)
      now = answer.first ?? now
    }
    #expect(waits == [0.1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    now += .seconds(600)
    schedule.overflowed(at: now)
    let answer = moments(of: .watchEverything, &schedule, until: now + .seconds(31))
    #expect(answer == [now + .milliseconds(100)])
  }
}
