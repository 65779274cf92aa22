package import HandoffProtocol
package import Paths

/// Decides when a file in a drop folder is looked at, and when it is proven finished.
///
/// It reads no clock and does no input or output: it is told what happened and at which moment, says
/// what is due, and is told what the look or the import found. Nothing is judged once and then
/// forgotten: every file that is not imported, gone or in the way of being examined has either a
/// moment at which it is looked at again, or waits for its next change.
///
/// An imported file is let go of; only a fingerprint of its path and identity stays, so that the
/// next listing of an unchanged one causes nothing.
package struct SettleTracker: Sendable {
  /// One moment on two clocks.
  package struct Moment: Hashable, Sendable {
    /// Since an arbitrary start, on a clock that nobody sets.
    package var elapsed: Duration
    /// For people.
    package var time: Timestamp

    package init(elapsed: Duration, time: Timestamp) {
      self.elapsed = elapsed
      self.time = time
    }
  }

  /// A look that is due.
  package struct Look: Sendable {
    /// Absolute.
    package let path: BytePath
    package let folder: Int
    /// What the last look found: where the file is still the same, it need not be probed again.
    package let judged: (identity: FileIdentity, verdict: ProbeVerdict)?
    /// It was there before the folder was first seen: it is only asked whether the ledger has it.
    package let existing: FileIdentity?
    /// It has a temporary name: it is only asked when it has last changed.
    package let isTransfer: Bool
    /// What is shown of its writers, if it was open for writing at the last look.
    package let writers: String?
  }

  let folders: [Folder]
  var candidates: [BytePath: Candidate] = [:]
  /// By the path of their directory.
  var packages: [BytePath: Package] = [:]
  var arrivedPackages: [PackageArrival] = []
  /// What waits for a preferred one, by the stem's path.
  var outdone: [BytePath: Set<BytePath>] = [:]
  /// The folders that were listed since they were there, each with the places in it that could not be.
  var listedFolders: [Int: Set<BytePath>] = [:]
  var listings: [Int: Listing] = [:]
  var heap = LookQueue()
  var remembered: [UInt64: Remembered] = [:]
  /// The inodes that were listed under temporary names, in folders that want a rename: where events do
  /// not tell of one, the inode under its new name does.
  var scratchNames: [ScratchKey: ScratchName] = [:]
  private var changes: [CandidateChange] = []

  /// - Parameter folders: the drop folders' paths and rules; elsewhere they are named by their place here.
  package init(folders: [(path: BytePath, rules: Rules)]) {
    self.folders = folders.map { Folder(path: $0.path, rules: $0.rules) }
  }

  struct Folder: Sendable {
    let path: BytePath
    let rules: Rules
  }

  /// What is kept of an imported file.
  struct Remembered: Sendable {
    let fingerprint: UInt64
    let folder: Int
    var round: UInt32
    /// When it was imported, on the tracker's clock; nil if the ledger had it already.
    let importedAt: Duration?
  }

  // MARK: Observing

  /// Takes in what was noticed of a file.
  ///
  /// The round is the number of the folder's listing that is under way or was the last.
  package mutating func observe(
    _ path: BytePath,
    in folder: Int,
    _ observation: CandidateObservation,
    round: UInt32,
    at moment: Moment
  ) {
    noteBeside(path, observation, at: moment)
    noteUnfinished(path, in: folder, observation)
    if let export = TemporaryNames.export(ofSidecar: path) { reconsiderPackage(export) }
    if case .vanished = observation { return vanished(path, at: moment.elapsed) }
    if case .listed(let identity) = observation, candidates[path] == nil,
      recalls(path, identity, round: round)
    {
      return
    }
    if candidates[path] == nil {
      candidates[path] = newcomer(path, folder, round, observation, at: moment)
    }
    let rules = folders[folder].rules
    update(path) { candidate in
      candidate.round = round
      candidate.noteNews(observation)
      candidate.take(observation, rules, at: moment)
    }
    noteScratchName(path)
    noteLateSidecar(path, observation, at: moment)
  }

  private func newcomer(
    _ path: BytePath,
    _ folder: Int,
    _ round: UInt32,
    _ observation: CandidateObservation,
    at moment: Moment
  ) -> Candidate {
    var candidate = Candidate(folder: folder, round: round, at: moment)
    let rules = folders[folder].rules
    let name = path.lastComponent
    if let reason = rules.names.reason(for: name) {
      candidate.enter(.misnamed(reason), wake: nil, at: moment)
      noteTransfer(&candidate, path, observation, at: moment)
      return candidate
    }
    candidate.patience = rules.names.patience(for: name)
    candidate.restart(rules, at: moment)
    if case .listed(let identity) = observation {
      candidate.isBackfill = isBackfill(identity, in: folder, at: moment)
      if rules.ignoresExisting(identity) {
        candidate.isExisting = true
        candidate.enter(.quiet, wake: moment.elapsed, at: moment)
      }
      if wasRenamed(identity) { candidate.origin = .renamed }
    }
    return candidate
  }

  /// - Parameters:
  ///   - path: what has gone.
  ///   - time: when that was noticed, on the tracker's clock.
  private mutating func vanished(_ path: BytePath, at time: Duration) {
    transferVanished(path, at: time)
    let imported = remembered.removeValue(forKey: Self.hash(path))
    forgetImported(path)
    if let imported { releaseOutdone(path, folders[imported.folder].rules, .unknown) }
    guard candidates[path]?.isInFlight != true else {
      candidates[path]?.isGone = true
      return
    }
    remove(path)
  }

  /// Directories were moved away or deleted, with everything below them.
  ///
  /// Takes time in the number of
  /// candidates, not in that of directories.
  package mutating func vanished(below directories: Set<BytePath>) {
    guard !directories.isEmpty else { return }
    for path in candidates.keys where path.isInside(anyOf: directories) {
      vanished(path, at: .zero)
    }
    for path in importedMembers() where path.isInside(anyOf: directories) { forgetImported(path) }
  }

  /// Folders were listed: what the round of its folder has not seen is gone, unless it is below a
  /// place that could not be listed.
  package mutating func sweep(_ rounds: [Int: (round: UInt32, unlisted: Set<BytePath>)]) {
    guard !rounds.isEmpty else { return }
    for (path, candidate) in candidates {
      guard let (round, unlisted) = rounds[candidate.folder], candidate.round < round,
        !path.isInside(anyOf: unlisted)
      else { continue }
      vanished(path, at: listings[candidate.folder]?.begun ?? .zero)
    }
    // Of these only a number is kept: those below such a place are asked for when they are listed again.
    remembered = remembered.filter { entry in
      rounds[entry.value.folder].map { entry.value.round >= $0.round } ?? true
    }
    for (folder, (_, unlisted)) in rounds {
      for path in importedMembers(of: folder)
      where !isImported(path) && !path.isInside(anyOf: unlisted) {
        forgetImported(path)
      }
      listedFolders[folder] = unlisted
      reconsiderPackages(of: folder)
    }
  }

  /// Looks at a file at once, whatever was found before; false if it is not tracked.
  package mutating func judgeAgain(_ path: BytePath, at moment: Moment) -> Bool {
    guard let candidate = candidates[path] else { return judgePackageAgain(path, at: moment) }
    let rules = folders[candidate.folder].rules
    update(path) { candidate in
      if candidate.isInFlight {
        candidate.isDirty = true
      } else if case .misnamed = candidate.stage {
        return
      } else {
        candidate.restart(rules, at: moment)
        candidate.wake = moment.elapsed
      }
    }
    return true
  }

  // MARK: Looking

  /// The moment from which ``due(at:limit:)`` may have something, on the elapsed clock.
  package var nextDue: Duration? { heap.earliest }

  /// The looks that are due now, at most as many as asked for; each counts as begun.
  package mutating func due(at moment: Moment, limit: Int) -> [Look] {
    var looks: [Look] = []
    let rules = folders
    while looks.count < limit, let (path, deadline) = heap.pop(dueAt: moment.elapsed) {
      if isPackage(path) {
        settlePackage(path, at: moment)
        continue
      }
      // An entry that a later one has replaced, or whose candidate is gone.
      guard candidates[path]?.queued == deadline else { continue }
      update(path) { candidate in
        candidate.queued = nil
        guard let wake = candidate.wake, wake <= moment.elapsed, !candidate.isInFlight else {
          return
        }
        if candidate.isTransfer {
          candidate.wake = nil
          return looks.append(candidate.nextLook(path))
        }
        if case .incomplete(let reason) = candidate.stage {
          return candidate.refuse(reason, rules[candidate.folder].rules, at: moment)
        }
        looks.append(candidate.nextLook(path))
        candidate.enter(.examining, wake: nil, at: moment)
      }
    }
    return looks
  }

  /// Takes in what a look found, and says whether to import now.
  package mutating func examined(
    _ path: BytePath,
    _ finding: CandidateFinding,
    at moment: Moment
  ) -> CandidateStep {
    guard let candidate = candidates[path], case .examining = candidate.stage else { return .wait }
    let rules = folders[candidate.folder].rules
    switch finding {
    case _ where candidate.isDirty:
      update(path) { $0.restart(rules, at: moment) }
    case .gone:
      remove(path)
    case _ where candidate.isGone:
      remove(path)
    case .known(let identifier, let identity):
      finish(path, candidate, identifier, identity, importedAt: nil)
    case .outdone(let other, let identity):
      update(path) { $0.passOver(for: other, identity, at: moment) }
    case .irregular, .unreadable, .openForWriting, .existing, .judged:
      let hold = unitHold(path, candidate, at: moment)
      update(path) { candidate in
        candidate.take(finding, rules, at: moment)
        if let hold { candidate.hold(hold, finding, rules, at: moment) }
      }
    }
    guard case .importing = candidates[path]?.stage else { return .wait }
    return .importNow
  }

  /// Takes in how an import ended.
  package mutating func imported(_ path: BytePath, _ outcome: ImportOutcome, at moment: Moment) {
    guard let candidate = candidates[path], case .importing = candidate.stage else { return }
    let rules = folders[candidate.folder].rules
    if case .imported(let identifier) = outcome {
      finish(path, candidate, identifier, candidate.identity, importedAt: moment.elapsed)
      guard candidate.isDirty, !candidate.isGone else { return }
      // It changed after it was taken: the next look tells whether its content did.
      let change = candidate.lastChange
      return observe(path, in: candidate.folder, change, round: candidate.round, at: moment)
    }
    if candidate.isGone { return remove(path, wasImporting: true) }
    update(path) { $0.take(outcome, rules, at: moment) }
  }

  // MARK: Telling

  /// The changes of state since the last call, in order.
  package mutating func takeChanges() -> [CandidateChange] {
    defer { changes = [] }
    return changes
  }

  // MARK: Keeping

  /// Changes a candidate in place, tells its new state, and puts its next moment in the heap.
  mutating func update(_ path: BytePath, _ body: (inout Candidate) -> Void) {
    guard let index = candidates.index(forKey: path) else { return }
    body(&candidates.values[index])
    if let wake = candidates.values[index].wake,
      candidates.values[index].queued.map({ wake < $0 }) ?? true
    {
      candidates.values[index].queued = wake
      heap.add(path, at: wake, isBackfill: candidates.values[index].isBackfill)
    }
    guard let shown = candidates.values[index].shown else { return }
    let candidate = candidates.values[index]
    guard shown.state != candidate.announced || shown.reason != candidate.announcedReason else {
      return
    }
    candidates.values[index].announced = shown.state
    candidates.values[index].announcedReason = shown.reason
    tell(path, candidate.folder, shown.state, shown.reason)
  }

  mutating func tell(
    _ path: BytePath,
    _ folder: Int,
    _ state: CandidateState,
    _ reason: String?,
    _ identifier: LocalIdentifier? = nil
  ) {
    changes.append(
      CandidateChange(
        path: path,
        folder: folders[folder].path,
        state: state,
        reason: reason,
        localIdentifier: identifier
      )
    )
    unitChanged(path, folder, state, identifier)
  }

  private mutating func remove(_ path: BytePath, wasImporting: Bool = false) {
    guard let candidate = candidates.removeValue(forKey: path) else { return }
    forgetScratchName(path, candidate)
    guard candidate.announced != nil else { return }
    let reason =
      wasImporting || candidate.isChangeUntold
      ? "source removed during its import, which was given up" : "the file is gone"
    tell(path, candidate.folder, .unknown, reason)
  }

  private mutating func finish(
    _ path: BytePath,
    _ candidate: Candidate,
    _ identifier: LocalIdentifier,
    _ identity: FileIdentity?,
    importedAt: Duration?
  ) {
    candidates.removeValue(forKey: path)
    let reason = importedAt == nil ? "the library has it already" : nil
    defer { tell(path, candidate.folder, .imported, reason, identifier) }
    guard let identity, !candidate.isGone, !candidate.isDirty else { return }
    remembered[Self.hash(path)] = Remembered(
      fingerprint: Self.hash(identity),
      folder: candidate.folder,
      round: candidate.round,
      importedAt: importedAt
    )
  }

  /// It was imported since the start, and has not changed since.
  func isImported(_ path: BytePath) -> Bool {
    candidates[path] == nil && remembered[Self.hash(path)] != nil
  }

  /// It was imported since the start and at this moment or later, and has not changed since.
  func isImported(_ path: BytePath, since moment: Duration) -> Bool {
    guard candidates[path] == nil, let imported = remembered[Self.hash(path)]?.importedAt else {
      return false
    }
    return imported >= moment
  }

  private mutating func recalls(
    _ path: BytePath,
    _ identity: FileIdentity,
    round: UInt32
  ) -> Bool {
    let key = Self.hash(path)
    guard remembered[key]?.fingerprint == Self.hash(identity) else { return false }
    remembered[key]?.round = round
    return true
  }

  /// 64 bits under the process's own key.
  ///
  /// A file would be missed only if both its path and its
  /// identity met those of another file: 128 bits.
  private static func hash(_ value: some Hashable) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(value)
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}
