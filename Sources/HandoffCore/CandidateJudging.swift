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
    if case .misnamed = stage { return }
    switch observation {
    case .changed(let closed):
      isClosed = closed
      happened(rules, at: moment)
    case .attributes:
      happened(rules, at: moment)
    case .listed(let listed):
      defer { identity = listed }
      if case .irregular = stage { return happened(rules, at: moment) }
      if let identity, identity != listed { happened(rules, at: moment) }
    case .irregular(let reason):
      guard !isInFlight else { return }
      evidence = [Evidence(.readable, passed: false, reason, since: moment.time)]
      enter(.irregular(reason), wake: nil, at: moment)
    case .vanished:
      isGone = isInFlight
    }
  }

  private mutating func happened(
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    lastEvent = moment.elapsed
    lastEventTime = moment.time
    isGone = false
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
    case .judged(let verdict, let identity, let proof):
      judge(verdict, identity, proof, rules, at: moment)
    case .gone, .known, .outdone:
      // Both end the candidate; the tracker does that.
      return
    }
  }

  private mutating func judge(
    _ verdict: ProbeVerdict,
    _ found: FileIdentity,
    _ proof: CandidateFinding.WriterProof,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    identity = found
    record(checks() + [writerEvidence(proof)] + verdict.evidence, at: moment.time)
    let reason = verdict.reason ?? "the probe gave no reason"
    switch verdict.judgement {
    case .complete, .notProvable:
      settle(verdict, found, proof, rules, at: moment)
    case .incomplete:
      enter(.incomplete(reason), wake: moment.elapsed + rules.giveUp, at: moment)
    case .unsuitable:
      // A file that is half written can look like no video: it gets a little time.
      let end = max(lastEvent + min(rules.giveUp, rules.longQuiet), moment.elapsed)
      enter(.incomplete(reason), wake: end, at: moment)
    case .failed:
      let wait = Self.wait(after: &failedProbes, from: .seconds(1), to: .seconds(600))
      let wake = moment.elapsed + wait
      if failedProbes < Self.probeTries {
        enter(.unprobed("the probe gave no verdict: \(reason)"), wake: wake, at: moment)
      } else {
        enter(.refused("the probe gave no verdict: \(reason)"), wake: wake, at: moment)
      }
    }
  }

  /// A whole file: imported now, or after a longer quiet, or after a second equal look.
  private mutating func settle(
    _ verdict: ProbeVerdict,
    _ found: FileIdentity,
    _ proof: CandidateFinding.WriterProof,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    let isProvable = verdict.judgement == .complete
    let wake: Duration
    let reason: String
    switch proof {
    case .lease:
      wake = isProvable ? moment.elapsed : lastEvent + max(rules.quiet, rules.longQuiet)
      reason = "the format declares no end: a longer quiet is waited for"
    case .looks:
      let first = look?.identity == found ? look?.at : nil
      wake = (first ?? moment.elapsed) + rules.pause(isProvable: isProvable)
      reason = "no lease can be had: two equal looks are waited for"
      // Kept from the first of the equal looks on.
      if first == nil { look = Look(identity: found, verdict: verdict, at: moment.elapsed) }
    }
    if wake <= moment.elapsed {
      return enter(.importing, wake: nil, at: moment)
    }
    if case .lease = proof {
      look = Look(identity: found, verdict: verdict, at: moment.elapsed)
    }
    enter(.confirming(reason), wake: wake, at: moment)
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
      lastEvent = moment.elapsed
      lastEventTime = moment.time
      restart(rules, at: moment)
    case .failed(let reason, let state, let mayPass):
      if mayPass {
        let wait = Self.wait(after: &failedImports, from: .seconds(1), to: .seconds(60))
        enter(.postponed(state, reason), wake: moment.elapsed + wait, at: moment)
      } else {
        enter(.refused(reason), wake: nil, at: moment)
      }
    case .held(let reason, let state, let limit):
      enter(.postponed(state, reason), wake: limit.map { moment.elapsed + $0 }, at: moment)
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
