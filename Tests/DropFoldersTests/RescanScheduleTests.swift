import HandoffCore
import Testing

@testable import DropFolders

@Suite("RescanSchedule")
struct RescanScheduleTests {
  private func schedule(_ mode: FolderMode = .events, uncovered: Int = 0) -> RescanSchedule {
    var schedule = RescanSchedule(pollIntervals: [.seconds(5)], at: .zero)
    schedule.update(status(mode, uncovered: uncovered), 0, at: .zero)
    _ = schedule.due(at: .milliseconds(500))
    return schedule
  }

  private func status(_ mode: FolderMode, uncovered: Int = 0) -> FolderStatus {
    var status = FolderStatus(mode: mode)
    for _ in 0..<uncovered { status.note(.limit, "no watch is left") }
    return status
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
      let isFirst = schedule.overflowed(at: now)
      // Further overflows before the answer change nothing.
      let isFurther = schedule.overflowed(at: now)
      #expect(isFirst && !isFurther)
      let answer = moments(of: .watchEverything, &schedule, until: now + .seconds(31))
      #expect(answer.count == 1)
      waits.append((answer.first ?? now) - now)
      now = answer.first ?? now
    }
    #expect(waits == [0.1, 2, 4, 8, 15, 15, 15].map { .seconds($0) })
    now += .seconds(600)
    _ = schedule.overflowed(at: now)
    let answer = moments(of: .watchEverything, &schedule, until: now + .seconds(31))
    #expect(answer == [now + .milliseconds(100)])
  }

  @Test(
    "a listing that takes long is not repeated at once: it never takes more than a fifth of a core"
  )
  func sharesProcessor() {
    var schedule = RescanSchedule(pollIntervals: [.seconds(5)], at: .zero)
    var slow = status(.poll)
    slow.listingTime = .seconds(10)
    schedule.update(slow, 0, at: .zero)
    #expect(moments(of: .list(0), &schedule, until: .seconds(100)) == [.seconds(40), .seconds(80)])
  }

  @Test("an inotify instance is asked for again until there is one")
  func asksForInstance() {
    var schedule = RescanSchedule(pollIntervals: [.seconds(5)], at: .zero)
    var polled = status(.poll)
    polled.lacksInstance = true
    schedule.update(polled, 0, at: .zero)
    let moments = moments(of: .regainEvents, &schedule, until: .seconds(25))
    #expect(moments == [.seconds(10), .seconds(20)])
    schedule.update(status(.events), 0, at: .seconds(25))
    #expect(self.moments(of: .regainEvents, &schedule, until: .seconds(60)).isEmpty)
  }
}

@Suite("FolderStatus")
struct FolderStatusTests {
  @Test("what is wrong is told in one line, with numbers and the first place of each kind")
  func tells() {
    var status = FolderStatus(mode: .events)
    #expect(status.degraded == nil)
    status.note(.failed, "open /d/x: Permission denied")
    status.note(.failed, "open /d/y: Permission denied")
    status.note(.limit, "no inotify watch is left")
    let lines = [
      "1 directory is not covered by events and polled: no inotify watch is left",
      "2 places could not be covered, tried again with each poll, the first: open /d/x: "
        + "Permission denied",
    ]
    #expect(status.degraded == lines.joined(separator: "; "))
    #expect(status.uncovered == 3)
  }

  @Test("a root that was away counts as one rescan once it is back")
  func counts() {
    var count = RescanCount()
    count.arrive()
    #expect(count == RescanCount())
    count.expect("the folder was deleted")
    #expect(count.count == 0)
    count.arrive()
    count.arrive()
    #expect(count.count == 1)
    #expect(count.reason == "its root was away: the folder was deleted")
  }
}
