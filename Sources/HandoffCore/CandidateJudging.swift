import Paths

/// What follows for one candidate from what was noticed or found.
extension Candidate {
  /// After this many probes without a verdict it is refused; it is still tried, but rarely.
  private static let probeTries = 4

  mutating func take(
    _ observation: CandidateObservation,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    if case .misnamed = stage {
      return takeBeside(observation, at: moment)
    }
    switch observation {
    case .changed(let closed):
      isClosed = closed
      origin.take(closed: closed)
      wasTold(rules, at: moment)
    case .renamed(let closedSince):
      isClosed = true
      origin = closedSince ? .renamedAndClosed : .renamed
      wasTold(rules, at: moment)
    case .attributes:
      wasTold(rules, at: moment)
    case .listed(let listed):
      defer {
        identity = listed
        isIdentityOld = false
      }
      if case .irregular = stage { return happened(rules, at: moment) }
      if let identity, identity != listed {
        // It has changed and no event was seen: nor would a rename have been.
        if !identity.hasSameContent(as: listed) { origin = .listed }
        isWatched = false
        happened(rules, at: moment)
      }
    case .irregular(let reason):
      guard !isInFlight else { return }
      evidence = [Evidence(.readable, passed: false, reason, since: moment.time)]
      enter(.irregular(reason), wake: nil, at: moment)
    case .vanished:
      isGone = isInFlight
    }
  }

  /// Of a file that is no export only the last change is kept, for what it lies beside.
  private mutating func takeBeside(
    _ observation: CandidateObservation,
    at moment: SettleTracker.Moment
  ) {
    switch observation {
    case .listed(let listed):
      if let identity, identity != listed { lastEvent = moment.elapsed }
      identity = listed
    case .changed, .renamed, .attributes:
      lastEvent = moment.elapsed
    case .irregular, .vanished:
      return
    }
  }

  private mutating func wasTold(
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    isWatched = true
    isIdentityOld = true
    happened(rules, at: moment)
  }

  private mutating func happened(
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    lastEvent = moment.elapsed
    lastEventTime = moment.time
    isGone = false
    isChangeUntold = false
    if isInFlight {
      isDirty = true
    } else {
      restart(rules, at: moment)
    }
  }

  mutating func take(
    _ finding: CandidateFinding,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    isChangeUntold = false
    switch finding {
    case .irregular(let reason):
      record([Evidence(.readable, passed: false, reason)], at: moment.time)
      enter(.irregular(reason), wake: nil, at: moment)
    case .unreadable(let reason):
      record(checks(readable: reason), at: moment.time)
      let wait = Self.wait(after: &failedOpenings, from: .seconds(1), to: .seconds(60))
      enter(.unreadable(reason), wake: moment.elapsed + wait, at: moment)
    case .openForWriting(let reason):
      let writer = Evidence(.noWriter, passed: false, reason)
      record(checks() + [writer], at: moment.time)
      let wait = Self.wait(after: &failedOpenings, from: .milliseconds(250), to: .seconds(5))
      enter(.openForWriting(reason), wake: moment.elapsed + wait, at: moment)
    case .existing:
      enter(.existing, wake: nil, at: moment)
    case .judged(let verdict, let identity, let proof, let beside):
      judge(verdict, identity, proof, beside, rules, at: moment)
    case .gone, .known, .outdone:
      // Both end the candidate; the tracker does that.
      return
    }
  }

  private mutating func judge(
    _ verdict: ProbeVerdict,
    _ found: FileIdentity,
    _ proof: CandidateFinding.WriterProof,
    _ beside: ProofFinding,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    noteUntoldChange(found, at: moment)
    let isProvable = verdict.judgement == .complete
    let standing = standing(beside, found, isProvable: isProvable, rules)
    let checks = checks() + [writerEvidence(proof)] + verdict.evidence
    record(checks + [evidence(of: standing)].compactMap(\.self), at: moment.time)
    let reason = verdict.reason ?? "the probe gave no reason"
    switch verdict.judgement {
    case .complete, .notProvable:
      settle(verdict, found, proof, standing, rules, at: moment)
    case .incomplete, .unsuitable:
      guard !wasRefused else { return refuse(reason, rules, at: moment) }
      // A file that is half written can look like no video: it gets a little time.
      let end =
        verdict.judgement == .incomplete
        ? moment.elapsed + rules.giveUp
        : max(lastEvent + min(rules.giveUp, rules.longQuiet), moment.elapsed)
      enter(.incomplete(reason), wake: end, at: moment)
    case .failed:
      let text = "the probe gave no verdict: \(reason)"
      guard failedProbes + 1 < Self.probeTries else { return refuse(text, rules, at: moment) }
      let wait = Self.wait(after: &failedProbes, from: .seconds(1), to: .seconds(60))
      enter(.unprobed(text), wake: moment.elapsed + wait, at: moment)
    }
  }

  /// Lists it as refused: judged again when it changes, and rarely without, for the cause may have been
  /// one that no event tells of.
  mutating func refuse(
    _ reason: String,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    wasRefused = true
    enter(.refused(reason), wake: moment.elapsed + slowWait(rules), at: moment)
  }

  private mutating func slowWait(_ rules: SettleTracker.Rules) -> Duration {
    Self.wait(
      after: &slowLooks,
      from: rules.slowRetry.lowerBound,
      to: rules.slowRetry.upperBound
    )
  }

  /// A whole file: imported now, or after a longer quiet, a second equal look, or a proof.
  private mutating func settle(
    _ verdict: ProbeVerdict,
    _ found: FileIdentity,
    _ proof: CandidateFinding.WriterProof,
    _ standing: ProofStanding,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    // Kept from the first of equal looks on.
    let first = look.flatMap { $0.identity == found ? $0.at : nil } ?? moment.elapsed
    if first == moment.elapsed {
      look = Look(identity: found, verdict: verdict, at: moment.elapsed)
    }
    claim = nil
    if case .claimed(let checksum) = standing { claim = checksum }
    if case .missing(let reason) = standing {
      return hold(.unproven(reason), wake: moment.elapsed + besideWait(rules), at: moment)
    }
    let isProvable = verdict.judgement == .complete || standing.isEnough
    var (wake, stage) = confirmation(proof, first, isProvable: isProvable, rules, at: moment)
    if let quiet = ownQuiet(found, isProvable: isProvable, rules, at: moment), quiet > wake {
      wake = quiet
    }
    if case .replaced(let reason, let pause) = standing, first + pause > wake {
      wake = first + pause
      stage = .unproven(reason)
    }
    if wake <= moment.elapsed {
      isReconsidered = false
      return enter(.importing, wake: nil, at: moment)
    }
    enter(stage, wake: wake, at: moment)
  }

  /// Until another look at what lies beside it, should no event tell of its coming.
  private mutating func besideWait(_ rules: SettleTracker.Rules) -> Duration {
    let first = min(.seconds(60), rules.slowRetry.lowerBound)
    return Self.wait(after: &slowLooks, from: first, to: rules.slowRetry.lowerBound)
  }

  mutating func take(
    _ outcome: ImportOutcome,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    switch outcome {
    case .imported:
      return
    case _ where isDirty:
      restart(rules, at: moment)
    case .changed:
      isChangeUntold = true
      lastEvent = moment.elapsed
      lastEventTime = moment.time
      restart(rules, at: moment)
    case .failed(let reason, let state, let mayPass):
      if mayPass {
        let wait = Self.wait(after: &failedImports, from: .seconds(1), to: .seconds(60))
        enter(.postponed(state, reason), wake: moment.elapsed + wait, at: moment)
      } else {
        refuse(reason, rules, at: moment)
      }
    case .held(let reason, .waitingProof, _):
      record(Evidence(.proof, passed: false, reason), at: moment.time)
      if let identity, let claim { disproof = Disproof(identity, claim, reason) }
      hold(.unproven(reason), wake: moment.elapsed + besideWait(rules), at: moment)
    case .held(let reason, let state, let limit):
      if state == .waitingSidecar {
        record(Evidence(.sidecar, passed: false, reason), at: moment.time)
      }
      let wait = limit ?? besideWait(rules)
      hold(.postponed(state, reason), wake: moment.elapsed + wait, at: moment)
    }
  }

  /// Counts one more failure and gives the wait after it, which doubles each time.
  private static func wait(
    after failures: inout Int,
    from first: Duration,
    to longest: Duration
  ) -> Duration {
    defer { failures += 1 }
    return min(first * (1 << min(failures, 16)), longest)
  }
}
