import HandoffProtocol
import Paths

/// One file in a drop folder, as the settle tracker has it.
struct Candidate: Sendable {
  /// What is waited for, or being done.
  enum Stage: Sendable {
    /// For the quiet period to pass.
    case quiet
    /// For the end of the look that is being taken.
    case examining
    case openForWriting(String)
    case unreadable(String)
    /// For its next change, up to the moment at which it is refused.
    case incomplete(String)
    /// For a longer quiet, or a second equal look.
    case confirming(String)
    /// For another try, because the probe gave no verdict.
    case unprobed(String)
    case importing
    /// For another import, or for what the import needs first.
    case postponed(CandidateState, String)
    /// For what its folder's `proof` asks for.
    case unproven(String)
    /// For a person or its next change: it was there before its folder was seen.
    case existing
    /// No export by its name: only its vanishing matters.
    case misnamed(String)
    /// No export by its kind.
    case irregular(String)
    case refused(String)
  }

  /// A look that was taken, to be compared with the next one.
  ///
  /// A class, so that the many candidates without one stay small.
  final class Look: Sendable {
    let identity: FileIdentity
    let verdict: ProbeVerdict
    /// On the tracker's clock.
    let at: Duration

    init(identity: FileIdentity, verdict: ProbeVerdict, at: Duration) {
      self.identity = identity
      self.verdict = verdict
      self.at = at
    }
  }

  /// Why a file that was there before is left alone.
  static let existingReason =
    "it was there when the folder was first seen (existing = \"ignore\"); `handoff retry` imports it"

  var folder: Int
  var stage = Stage.quiet
  /// When the stage began.
  var since: Timestamp
  /// When something happens by itself, for people; nil if only a change goes on.
  var until: Timestamp?
  /// When it was first seen under its name.
  let seenAt: Timestamp
  var origin = Origin.listed
  /// The last event, on the tracker's clock.
  var lastEvent: Duration
  var lastEventTime: Timestamp
  /// The last event said that the writer has let go.
  var isClosed = false
  /// An event told of the last change; where none did, as in polled places, looks have to show the quiet.
  var isWatched = false
  /// An event came after ``identity`` was found, so that another one is no surprise.
  var isIdentityOld = false
  /// Something happened while it was examined or imported.
  var isDirty = false
  /// It went away while it was examined or imported, and has not come back.
  var isGone = false
  /// Its import has met a change of which neither an event nor a look has told yet: perhaps its removal.
  var isChangeUntold = false
  /// It lies there since before its folder was seen, and has not changed since.
  var isExisting = false
  /// What lies beside it has changed while it was examined or imported.
  var isReconsidered = false
  /// It was refused since the last change: another look that finds the same does not begin anew.
  var wasRefused = false
  /// Its name is that of an unfinished member of a package, which waits for it.
  var isTransfer = false
  /// As a listing or a look found it last.
  var identity: FileIdentity?
  var look: Look?
  /// A habit of its writer, by its name.
  var patience: TemporaryNames.Patience?
  /// What lay beside it at the last look.
  var claim: ContentChecksum?
  var disproof: Disproof?
  /// The checks of the last look.
  var evidence: [Evidence] = []
  /// Since the last change, for growing waits.
  var failedOpenings = 0
  var failedProbes = 0
  var failedImports = 0
  var slowLooks = 0
  /// It gives way to new exports.
  var isBackfill = false
  /// When to go on, on the tracker's clock; nil: only a change goes on.
  var wake: Duration?
  /// The earliest entry that the heap has for it.
  var queued: Duration?
  /// The last round of listing that has seen it.
  var round: UInt32
  var announced: CandidateState?
  var announcedReason: String?

  init(folder: Int, round: UInt32, at moment: SettleTracker.Moment) {
    self.folder = folder
    self.round = round
    self.since = moment.time
    self.seenAt = moment.time
    self.lastEvent = moment.elapsed
    self.lastEventTime = moment.time
  }

  var isInFlight: Bool {
    switch stage {
    case .examining, .importing: true
    case .quiet, .openForWriting, .unreadable, .incomplete, .confirming, .unprobed, .postponed,
      .unproven, .existing, .misnamed, .irregular, .refused:
      false
    }
  }

  /// State and reason as others see them; nil while a look is being taken, which changes nothing yet.
  var shown: (state: CandidateState, reason: String?)? {
    switch stage {
    case .quiet: isExisting ? nil : (.waitingQuiet, nil)
    case .examining: nil
    case .openForWriting(let reason): (.openForWriting, reason)
    case .unreadable(let reason): (.unreadable, reason)
    case .incomplete(let reason): (.incomplete, reason)
    case .confirming(let reason), .unprobed(let reason): (.waitingQuiet, reason)
    case .importing: (.importing, nil)
    case .postponed(let state, let reason): (state, reason)
    case .unproven(let reason): (.waitingProof, reason)
    case .existing: (.ignored, Self.existingReason)
    case .misnamed(let reason), .irregular(let reason): (.ignored, reason)
    case .refused(let reason): (.refused, reason)
    }
  }

  /// As others see it now; during a look the last state stands.
  var presented: (state: CandidateState, reason: String?) {
    shown ?? (announced ?? .waitingQuiet, announcedReason)
  }

  mutating func enter(_ stage: Stage, wake: Duration?, at moment: SettleTracker.Moment) {
    if !isSame(stage) { since = moment.time }
    self.stage = stage
    self.wake = wake
    until = wake.map { moment.time.advanced(by: $0 - moment.elapsed) }
  }

  /// Waits for what lies beside it, unless that has changed meanwhile: then it is looked at again at once.
  mutating func hold(_ stage: Stage, wake: Duration?, at moment: SettleTracker.Moment) {
    enter(stage, wake: isReconsidered ? moment.elapsed : wake, at: moment)
    isReconsidered = false
  }

  /// Begins the quiet period anew; what was found before no longer counts.
  mutating func restart(_ rules: SettleTracker.Rules, at moment: SettleTracker.Moment) {
    isDirty = false
    isExisting = false
    isReconsidered = false
    wasRefused = false
    failedOpenings = 0
    failedProbes = 0
    failedImports = 0
    slowLooks = 0
    look = nil
    // An event says nothing of whether it can still be read; everything else is open again.
    evidence.removeAll { $0.check != .readable }
    var quiet = isClosed ? rules.quiet : max(rules.quiet, rules.unclosedQuiet)
    if let patience { quiet = max(quiet, patience.quiet) }
    enter(.quiet, wake: lastEvent + quiet, at: moment)
  }

  private func isSame(_ other: Stage) -> Bool {
    switch (stage, other) {
    case (.openForWriting, .openForWriting), (.unreadable, .unreadable),
      (.incomplete, .incomplete), (.confirming, .confirming), (.unprobed, .unprobed),
      (.postponed, .postponed), (.unproven, .unproven), (.refused, .refused):
      true
    default:
      false
    }
  }

  /// Puts new checks in place of the old, keeping since when each has been so.
  mutating func record(_ checks: [Evidence], at time: Timestamp) {
    let earlier = evidence
    evidence = checks.map { check in
      var check = check
      let same = earlier.first {
        $0.check == check.check && $0.passed == check.passed && $0.pending == check.pending
      }
      check.since = same?.since ?? check.since ?? time
      return check
    }
  }

  /// Puts one check in place of what was found of it before.
  mutating func record(_ check: Evidence, at time: Timestamp) {
    record(evidence.filter { $0.check != check.check } + [check], at: time)
  }
}
