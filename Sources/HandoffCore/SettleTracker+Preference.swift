import Paths

/// `prefer`: an export waits while one of its stem may come that would be taken instead.
///
/// It is never lost by that: with nothing better, or when the better one is refused or goes away, it is
/// imported itself.
extension SettleTracker {
  mutating func preferenceHold(
    _ path: BytePath,
    _ candidate: Candidate,
    at moment: Moment
  ) -> UnitHold? {
    guard let preference = folders[candidate.folder].rules.preference else { return nil }
    let better = preference.better(than: path)
    guard let best = better.first else { return nil }
    let unit = preference.unit(of: path)
    // The better one may have been imported since this was looked at, or wait for nothing but its package.
    // What was imported before this was finished may be of another recording: the ledger was asked.
    if let other = better.first(where: {
      isImported($0, since: candidate.lastEvent) || standing(of: $0) == .proven
    }) {
      outdone[unit, default: []].insert(path)
      return Self.hold(.ignored, "\(other.lastComponent) was preferred", wake: nil)
    }
    if let other = better.first(where: { standing(of: $0) == .coming }) {
      outdone[unit, default: []].insert(path)
      let reason = "\(other.lastComponent) is preferred, and is not finished yet"
      return Self.hold(.waitingQuiet, reason, wake: nil)
    }
    let end = candidate.lastEvent + preference.wait
    guard !preference.isBest(path), moment.elapsed < end else { return nil }
    outdone[unit, default: []].insert(path)
    let reason =
      "\(best.lastComponent) would be preferred: it is waited for up to \(preference.wait) "
      + "(prefer_wait), and then this is taken"
    return Self.hold(.waitingQuiet, reason, wake: end)
  }

  /// A file was imported, refused or went away, or waits for its package alone: what was held for it is
  /// looked at again.
  mutating func releaseOutdone(_ path: BytePath, _ rules: Rules, _ state: CandidateState) {
    let telling: [CandidateState] = [
      .imported, .refused, .unknown, .ignored, .unreadable, .waitingPackage,
    ]
    guard telling.contains(state), let unit = rules.preference?.unit(of: path),
      let waiting = outdone[unit]
    else { return }
    // Whoever goes on waiting says so again.
    let isOver = [.imported, .unknown].contains(state) || !waiting.contains(path)
    outdone[unit] = isOver ? nil : [path]
    for other in waiting where other != path { release(other) }
  }

  private enum Standing {
    /// Nothing to wait for.
    case none
    case coming
    /// Finished, and waiting for its package alone.
    case proven
  }

  private func standing(of path: BytePath) -> Standing {
    switch candidates[path]?.stage {
    case .quiet, .examining, .openForWriting, .incomplete, .confirming, .unprobed, .importing:
      .coming
    case .postponed(.waitingPackage, _): .proven
    case .postponed(.ignored, _): .none
    case .postponed: .coming
    case .unreadable, .unproven, .existing, .misnamed, .irregular, .refused, nil: .none
    }
  }

  private static func hold(_ state: CandidateState, _ reason: String, wake: Duration?) -> UnitHold {
    UnitHold(
      state: state,
      reason: reason,
      wake: wake,
      evidence: Evidence(.preference, passed: false, reason)
    )
  }
}
