package import HandoffCore
package import HandoffLog
package import HandoffProtocol
package import LinuxSystem
package import Paths

/// Watches the drop folders, proves exports finished, and has them imported.
///
/// The watch thread tells what happens, the settle tracker decides, the examiner looks; this composes
/// them. State lives here, work runs in child tasks of ``run()``.
package actor DropFolderWatcher {
  /// What the watcher needs of the rest of the broker.
  package struct Surroundings: Sendable {
    /// Judges an open file of that many bytes.
    ///
    /// It may be called several times at once.
    package var probe: @Sendable (FileDescriptor, Int64) async -> ProbeVerdict
    /// The asset that was made of this file with this content, if one was.
    package var known: @Sendable (BytePath, FileIdentity) async throws -> LocalIdentifier?
    /// Imports a settled export.
    ///
    /// It is not cancelled when the watcher is.
    package var importer: @Sendable (SettledExport) async -> ImportOutcome
    /// The export of the same stem that was taken instead of this finished one, by the folder's `prefer`.
    package var outdone: @Sendable (BytePath, FileIdentity) async throws -> BytePath?
    /// Records a package whose exports are all imported.
    ///
    /// It is not cancelled when the watcher is.
    package var packager: @Sendable (PackageArrival) async -> PackageOutcome
    /// Hears of every change; called in order, and must not block.
    package var observer: @Sendable (CandidateChange) -> Void
    package var now: @Sendable () -> Timestamp

    package init(
      probe: @escaping @Sendable (FileDescriptor, Int64) async -> ProbeVerdict,
      known: @escaping @Sendable (BytePath, FileIdentity) async throws -> LocalIdentifier?,
      importer: @escaping @Sendable (SettledExport) async -> ImportOutcome,
      outdone: @escaping @Sendable (BytePath, FileIdentity) async throws -> BytePath? = { _, _ in
        nil
      },
      packager: @escaping @Sendable (PackageArrival) async -> PackageOutcome = { _ in .recorded },
      observer: @escaping @Sendable (CandidateChange) -> Void,
      now: @escaping @Sendable () -> Timestamp
    ) {
      self.probe = probe
      self.known = known
      self.importer = importer
      self.outdone = outdone
      self.packager = packager
      self.observer = observer
      self.now = now
    }
  }

  var settings: [DropFolderSettings]
  let surroundings: Surroundings
  let examiner: ExportExaminer
  let writerSearch = WriterSearch()
  /// Files that have begun to be open for writing, and whose writers are still to be named.
  var unnamed: Set<BytePath> = []
  var isNaming = false
  let logger: Logger
  var tracker: SettleTracker
  /// Looks and imports that run now.
  var running = 0
  var statuses: [FolderStatus]
  var rescans: [RescanCount]
  let control: BytePath
  var thread: WatchThread
  var inbox: EventInbox
  var wakes: AsyncStream<Void>
  var waker: AsyncStream<Void>.Continuation
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private let concurrency: Int
  var schedule: RescanSchedule
  /// The moments for which a child task sleeps.
  var sleepers: Set<Duration> = []
  var listed: Set<Int> = []
  var hasEnded = false
  private var waitingForStart: [CheckedContinuation<Void, Never>] = []
  /// The folders that a reload has asked for, until the watcher goes on with them.
  var next: (folders: [DropFolderSettings], firstSeen: [BytePath: Timestamp])?
  var waitingForChange: [CheckedContinuation<Void, Never>] = []
  /// It runs no more.
  var isOver = false

  /// - Parameters:
  ///   - folders: the drop folders; nested ones are allowed, the deepest decides.
  ///   - control: a private folder in the state folder.
  ///   - concurrency: how many looks and imports run at once.
  ///   - keeper: takes the leases.
  ///   - firstSeen: when each folder was seen for the first time, by its path.
  ///   - surroundings: the rest of the broker.
  ///   - logger: hears of overflows and lost folders.
  package init(
    folders: [DropFolderSettings],
    control: BytePath,
    concurrency: Int = 4,
    keeper: LeaseKeeper,
    firstSeen: [BytePath: Timestamp] = [:],
    surroundings: Surroundings,
    logger: Logger
  ) {
    settings = folders
    self.control = control
    self.surroundings = surroundings
    self.logger = logger
    self.concurrency = concurrency
    (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    inbox = EventInbox { [waker] in waker.yield() }
    thread = WatchThread(
      folders: folders,
      control: ControlFolder(control, logger: logger),
      inbox: inbox,
      logger: logger
    )
    examiner = ExportExaminer(keeper)
    tracker = SettleTracker(folders, firstSeen: firstSeen)
    statuses = folders.map { _ in FolderStatus(mode: .offline) }
    rescans = folders.map { _ in RescanCount() }
    schedule = RescanSchedule(pollIntervals: folders.map(\.pollInterval), at: .zero)
    start = clock.now
  }

  var moment: SettleTracker.Moment {
    SettleTracker.Moment(elapsed: start.duration(to: clock.now), time: surroundings.now())
  }

  // MARK: Running

  /// Watches until it is cancelled: then nothing new is begun, and what runs is waited for.
  ///
  /// - Throws: ``WatchError`` where nothing can be watched at all.
  package func run() async throws {
    defer {
      isOver = true
      changeHasEnded()
    }
    repeat { try await watch() } while goOn()
  }

  private func watch() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      group.addTask { [thread, waker] in
        // However it ends, the loop below ends with it.
        defer { waker.finish() }
        try await thread.run()
      }
      for await _ in wakes {
        takeArrivals()
        let now = moment
        askThread(at: now)
        let looks = tracker.due(at: now, limit: concurrency - running)
        running += looks.count
        for look in looks { group.addTask { await self.process(look) } }
        for arrival in tracker.takePackages() { group.addTask { await self.record(arrival) } }
        tellChanges()
        if let alarm = nextAlarm() {
          group.addTask { await self.sleep(until: alarm) }
        }
      }
      thread.post(.stop)
      hasEnded = true
      startHasEnded()
      // Only sleeps are cut short by it: a look ends by itself, and an import has a task of its own.
      group.cancelAll()
    }
  }

  private func askThread(at now: SettleTracker.Moment) {
    for request in schedule.due(at: now.elapsed) {
      if request == .watchEverything {
        for folder in rescans.indices { rescans[folder].add("the event queue overflowed") }
      }
      thread.post(request)
    }
  }

  private func takeArrivals() {
    let contents = inbox.take()
    let now = moment
    if contents.hasOverflowed, schedule.overflowed(at: now.elapsed) {
      logger.warning("the event queue overflowed: all folders are listed again")
    }
    if contents.hasOverflowed { tracker.eventsWereLost() }
    tracker.vanished(below: contents.vanishedDirectories)
    tracker.suspend(below: contents.awayDirectories)
    for (folder, reason) in contents.lostFolders {
      tracker.suspend(folder: folder)
      rescans[folder].expect(reason)
    }
    for (path, arrival) in contents.arrivals {
      tracker.observe(
        path,
        in: arrival.folder,
        arrival.observation,
        round: arrival.round,
        at: now
      )
    }
    for (folder, round) in contents.completedRounds {
      let begun = start.duration(to: round.begun)
      tracker.listed(folder: folder, begun: begun, isPolled: round.isPolled)
    }
    tracker.sweep(
      contents.completedRounds.mapValues { (round: $0.number, unlisted: $0.unlisted) }
    )
    for (folder, places) in contents.unlisted { tracker.couldNotList(places, in: folder) }
    for (folder, status) in contents.statuses { take(status, folder, at: now) }
    if listed.count == settings.count { startHasEnded() }
  }

  private func take(_ status: FolderStatus, _ folder: Int, at now: SettleTracker.Moment) {
    if status.mode != .offline { rescans[folder].arrive() }
    statuses[folder] = status
    schedule.update(status, folder, at: now.elapsed)
    listed.insert(folder)
  }

  func tellChanges() {
    for change in tracker.takeChanges() { surroundings.observer(change) }
  }

  /// A look or import has ended: there is room for the next.
  func workHasEnded() {
    running -= 1
    tellChanges()
    waker.yield()
  }

  // MARK: Time

  /// The next moment at which something is due, if nobody sleeps for it or for an earlier one.
  private func nextAlarm() -> Duration? {
    var alarm = schedule.next
    // With all places taken, the end of a piece of work goes on.
    if running < concurrency, let due = tracker.nextDue { alarm = min(alarm, due) }
    guard sleepers.allSatisfy({ alarm < $0 }) else { return nil }
    sleepers.insert(alarm)
    return alarm
  }

  private func sleep(until alarm: Duration) async {
    defer { sleepers.remove(alarm) }
    do {
      try await clock.sleep(until: start.advanced(by: alarm))
    } catch {
      // Cancelled: the watcher ends.
      return
    }
    waker.yield()
  }

  // MARK: Start

  /// Waits until every folder is watched and listed, or known to be away.
  ///
  /// - Returns: false if watching has ended before it came so far.
  package func started() async -> Bool {
    if listed.count < settings.count, !hasEnded {
      await withCheckedContinuation { waitingForStart.append($0) }
    }
    return listed.count == settings.count
  }

  private func startHasEnded() {
    let waiting = waitingForStart
    waitingForStart = []
    for continuation in waiting { continuation.resume() }
  }

  /// Goes on with what is due.
  func wake() {
    waker.yield()
  }
}
