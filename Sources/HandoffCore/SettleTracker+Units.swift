import HandoffProtocol
import Paths

/// Why a finished export is not imported yet: something of the unit that it belongs to is missing.
struct UnitHold: Sendable {
  var state: CandidateState
  var reason: String
  /// When to look again, on the tracker's clock; nil: what is missing tells.
  var wake: Duration?
  var evidence: Evidence
}

/// What an export has to wait for besides its own proof.
extension SettleTracker {
  /// What holds an export that is finished; nil if it may be imported.
  mutating func unitHold(
    _ path: BytePath,
    _ candidate: Candidate,
    at moment: Moment
  ) -> UnitHold? {
    if let hold = unfinishedHold(path, candidate, at: moment) { return hold }
    if let hold = preferenceHold(path, candidate, at: moment) { return hold }
    return packageHold(path, candidate, at: moment)
  }

  /// The state of a file has changed: others may have waited for that.
  mutating func unitChanged(
    _ path: BytePath,
    _ folder: Int,
    _ state: CandidateState,
    _ identifier: LocalIdentifier?
  ) {
    let rules = folders[folder].rules
    if state == .unknown { releaseUnfinished(path, rules) }
    if rules.preference != nil { releaseOutdone(path, rules, state) }
    if rules.hasPackages { packageChanged(path, folder, state, identifier) }
  }

  /// Looks at a held export again at once.
  mutating func release(_ path: BytePath) {
    update(path) { candidate in
      if case .postponed = candidate.stage { candidate.wake = .zero }
    }
  }

  // MARK: Files that lie beside what is unfinished

  /// What lies beside an export may be left over: `give_up` after the last change of the two, the
  /// export is refused.
  private func unfinishedHold(
    _ path: BytePath,
    _ candidate: Candidate,
    at moment: Moment
  ) -> UnitHold? {
    let rules = folders[candidate.folder].rules
    for (suffix, title) in rules.names.unfinished {
      let side = path.addingSuffix(suffix)
      guard let other = candidates[side] else { continue }
      let end = max(candidate.lastEvent, other.lastEvent) + rules.giveUp
      let isOver = end <= moment.elapsed
      let reason = "\(title) has not finished it: \(side.lastComponent) lies beside it"
      return UnitHold(
        state: isOver ? .refused : .incomplete,
        reason: reason,
        wake: end,
        evidence: Evidence(.noWriter, passed: false, reason)
      )
    }
    return nil
  }

  /// Something lies beside an export that says that it is unfinished, or has changed there: one that was
  /// refused for it is judged again.
  mutating func noteUnfinished(
    _ path: BytePath,
    in folder: Int,
    _ observation: CandidateObservation
  ) {
    if case .listed(let identity) = observation, candidates[path]?.identity == identity { return }
    releaseUnfinished(path, folders[folder].rules)
  }

  private mutating func releaseUnfinished(_ path: BytePath, _ rules: Rules) {
    for (suffix, _) in rules.names.unfinished {
      let ending = Array(suffix.utf8)
      guard path.bytes.suffix(ending.count).elementsEqual(ending) else { continue }
      update(BytePath(path.bytes.dropLast(ending.count))) { candidate in
        switch candidate.stage {
        case .postponed(.incomplete, _), .refused: candidate.wake = .zero
        default: return
        }
      }
    }
  }
}

extension Candidate {
  /// Holds what would be imported now; what the look has found is kept for the next.
  mutating func hold(
    _ hold: UnitHold,
    _ finding: CandidateFinding,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) {
    guard case .importing = stage, case .judged(let verdict, let identity, _, _) = finding
    else {
      return
    }
    if look?.identity != identity {
      look = Look(identity: identity, verdict: verdict, at: moment.elapsed)
    }
    record(evidence + [hold.evidence], at: moment.time)
    if hold.state == .refused { return refuse(hold.reason, rules, at: moment) }
    enter(.postponed(hold.state, hold.reason), wake: hold.wake, at: moment)
  }

  /// Another of its stem was taken instead: it stays where it is until it changes.
  mutating func passOver(
    for other: BytePath,
    _ found: FileIdentity,
    at moment: SettleTracker.Moment
  ) {
    identity = found
    let reason = "\(other.lastComponent) was preferred"
    record(checks() + [Evidence(.preference, passed: false, reason)], at: moment.time)
    enter(.postponed(.ignored, reason), wake: nil, at: moment)
  }
}
