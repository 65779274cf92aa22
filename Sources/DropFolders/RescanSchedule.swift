import HandoffCore

/// When folders are listed again, apart from events: after an overflow, while a root is away, where
/// something is polled, and slowly in any case.
struct RescanSchedule {
  /// The safety net.
  static let interval: Duration = .seconds(600)
  /// Between two looks whether roots are still there.
  static let rootInterval: Duration = .seconds(5)
  /// The same while one is away.
  static let lostRootInterval: Duration = .milliseconds(500)
  /// Between two tries to get an inotify instance where there was none.
  static let instanceInterval: Duration = .seconds(10)
  static let firstOverflowWait: Duration = .milliseconds(100)
  static let longestOverflowWait: Duration = .seconds(15)
  /// A poll waits at least this many times as long as the last listing took: a fifth of one core.
  static let listingShare = 4

  private let pollIntervals: [Duration]
  /// When each folder is listed next.
  private var listings: [Duration]
  private var statuses: [FolderStatus]
  private var rootCheck: Duration
  /// When an inotify instance is asked for again; nil: there is one.
  private var instanceCheck: Duration?
  /// When everything is watched and listed anew; nil: no overflow is unanswered.
  private var answer: Duration?
  private var lastAnswer: Duration?
  private var overflowWait = RescanSchedule.firstOverflowWait

  init(pollIntervals: [Duration], at now: Duration) {
    self.pollIntervals = pollIntervals
    self.listings = pollIntervals.map { _ in now + Self.interval }
    self.statuses = pollIntervals.map { _ in FolderStatus(mode: .offline) }
    self.rootCheck = now + Self.lostRootInterval
  }

  /// Takes in where a folder stands.
  mutating func update(_ status: FolderStatus, _ folder: Int, at now: Duration) {
    statuses[folder] = status
    if needsPolling(folder) {
      listings[folder] = min(listings[folder], now + pollInterval(folder))
    }
    if status.mode == .offline { rootCheck = min(rootCheck, now + Self.lostRootInterval) }
    if !statuses.contains(where: \.lacksInstance) {
      instanceCheck = nil
    } else if instanceCheck == nil {
      instanceCheck = now + Self.instanceInterval
    }
  }

  /// Takes in that events were lost.
  ///
  /// Overflows that follow on each other's heels are answered ever more slowly, so
  /// that listing does not become the load that makes the next one.
  ///
  /// - Parameter now: the present.
  /// - Returns: false if an earlier overflow still waits for its answer, which is this one's too.
  mutating func overflowed(at now: Duration) -> Bool {
    guard answer == nil else { return false }
    if let lastAnswer, now - lastAnswer < overflowWait * 2 + .seconds(2) {
      overflowWait = min(max(overflowWait * 2, .seconds(2)), Self.longestOverflowWait)
    } else {
      overflowWait = Self.firstOverflowWait
    }
    answer = now + overflowWait
    return true
  }

  /// The moment from which ``due(at:)`` has something.
  var next: Duration {
    let others = [answer, instanceCheck, listings.min()].compactMap(\.self)
    return others.reduce(rootCheck, min)
  }

  /// What is to be asked of the watch thread now.
  mutating func due(at now: Duration) -> [WatchThread.Request] {
    var requests: [WatchThread.Request] = []
    if let answer, answer <= now {
      self.answer = nil
      lastAnswer = now
      requests.append(.watchEverything)
    }
    if let check = instanceCheck, check <= now {
      instanceCheck = now + Self.instanceInterval
      requests.append(.regainEvents)
    }
    if rootCheck <= now {
      let isAway = statuses.contains { $0.mode == .offline }
      rootCheck = now + (isAway ? Self.lostRootInterval : Self.rootInterval)
      requests.append(.checkRoots)
    }
    for folder in listings.indices where listings[folder] <= now {
      listings[folder] = now + (needsPolling(folder) ? pollInterval(folder) : Self.interval)
      requests.append(.list(folder))
    }
    return requests
  }

  private func pollInterval(_ folder: Int) -> Duration {
    max(pollIntervals[folder], statuses[folder].listingTime * Self.listingShare)
  }

  private func needsPolling(_ folder: Int) -> Bool { statuses[folder].needsPolling }
}
