package import Paths

/// What lies beside an export: its sidecar, its marker or checksum file, and the temporary name that it
/// had before.
extension SettleTracker {
  /// An inode, by which a file is known under another name.
  struct ScratchKey: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
  }

  struct ScratchName: Sendable {
    let path: BytePath
    /// As it was listed last under that name.
    let identity: FileIdentity
  }

  /// How much of its `sidecar_wait` an export has left, which counts from its last event; zero or less
  /// when it has passed.
  package func sidecarWait(of path: BytePath, at moment: Moment) -> Duration {
    guard let candidate = candidates[path] else { return .zero }
    return candidate.lastEvent + folders[candidate.folder].rules.sidecarWait - moment.elapsed
  }

  /// A rename was seen to bring a file under its name: it was not there before.
  package func cameByRename(_ path: BytePath) -> Bool {
    switch candidates[path]?.origin {
    case .renamed, .renamedAndClosed: true
    case .listed, .written, nil: false
    }
  }

  /// Something lies beside an export, or has changed there: what is held for it is looked at again.
  mutating func noteBeside(
    _ path: BytePath,
    _ observation: CandidateObservation,
    at moment: Moment
  ) {
    guard
      let export = TemporaryNames.export(ofSidecar: path) ?? ProofFiles.export(ofProof: path)
    else { return }
    if case .listed(let identity) = observation, candidates[path]?.identity == identity { return }
    update(export) { candidate in
      switch candidate.stage {
      case .postponed, .unproven:
        candidate.enter(candidate.stage, wake: moment.elapsed, at: moment)
      case .examining, .importing:
        candidate.isReconsidered = true
      case .quiet, .openForWriting, .unreadable, .incomplete, .confirming, .unprobed, .existing,
        .misnamed, .irregular, .refused:
        return
      }
    }
  }

  /// A sidecar that comes after its export was imported waits for the next export of that name, which a
  /// person should know.
  mutating func noteLateSidecar(
    _ path: BytePath,
    _ observation: CandidateObservation,
    at moment: Moment
  ) {
    guard let export = TemporaryNames.export(ofSidecar: path), isImported(export) else { return }
    switch observation {
    case .changed(closed: true), .renamed: break
    case .changed(closed: false), .attributes, .listed, .irregular, .vanished: return
    }
    update(path) { candidate in
      guard case .misnamed = candidate.stage else { return }
      candidate.enter(.misnamed(Self.lateSidecar), wake: nil, at: moment)
    }
  }

  private static let lateSidecar =
    "a sidecar that came after its export was imported: it counts for the next export of that name"

  /// Says who has a file open, if it is still thought to be open.
  package mutating func nameWriters(of path: BytePath, _ reason: String, at moment: Moment) {
    update(path) { candidate in
      guard case .openForWriting = candidate.stage else { return }
      candidate.stage = .openForWriting(reason)
      candidate.record(Evidence(.noWriter, passed: false, reason), at: moment.time)
    }
  }

  /// Events may have been lost: what was renamed may have been written to since.
  package mutating func eventsWereLost() {
    for index in candidates.values.indices where candidates.values[index].origin == .renamed {
      candidates.values[index].origin = .renamedAndClosed
    }
  }

  // MARK: Temporary names

  /// Remembers the inode under a temporary name, where its rename would be a proof.
  mutating func noteScratchName(_ path: BytePath) {
    guard let candidate = candidates[path], case .misnamed = candidate.stage,
      folders[candidate.folder].rules.proof == .rename, let identity = candidate.identity
    else { return }
    let key = ScratchKey(device: identity.device, inode: identity.inode)
    scratchNames[key] = ScratchName(path: path, identity: identity)
  }

  mutating func forgetScratchName(_ path: BytePath, _ candidate: Candidate) {
    guard let identity = candidate.identity else { return }
    let key = ScratchKey(device: identity.device, inode: identity.inode)
    if scratchNames[key]?.path == path { scratchNames.removeValue(forKey: key) }
  }

  /// The inode was listed under a temporary name before, with the content that it has now.
  ///
  /// An inode number that was free for a moment may be another file's by now, which then has its first
  /// bytes still to come: the number alone shows no rename, nor does a file that has only grown.
  func wasRenamed(_ identity: FileIdentity) -> Bool {
    let key = ScratchKey(device: identity.device, inode: identity.inode)
    return scratchNames[key]?.identity.hasSameContent(as: identity) ?? false
  }
}

extension Candidate {
  /// The last event as an observation.
  var lastChange: CandidateObservation {
    switch origin {
    case .renamed: .renamed(closedSince: false)
    case .renamedAndClosed: .renamed(closedSince: true)
    case .listed, .written: .changed(closed: isClosed)
    }
  }

  /// What is looked at next.
  func nextLook(_ path: BytePath) -> SettleTracker.Look {
    SettleTracker.Look(
      path: path,
      folder: folder,
      judged: look.map { (identity: $0.identity, verdict: $0.verdict) },
      existing: isExisting ? identity : nil,
      isTransfer: isTransfer,
      writers: announced == .openForWriting ? announcedReason : nil
    )
  }
}
