import HandoffProtocol
import Paths

/// Quiet that no event vouches for.
///
/// In a polled place nothing tells of a change but two identities that differ, and the change time that
/// the file system keeps.
extension Candidate {
  /// Takes in what a look found: another identity without an event between is a change as an event
  /// would be.
  mutating func noteUntoldChange(_ found: FileIdentity, at moment: SettleTracker.Moment) {
    defer {
      identity = found
      isIdentityOld = false
    }
    guard let identity, identity != found else { return }
    // It may have changed since it was refused.
    wasRefused = false
    guard !isIdentityOld else { return }
    isWatched = false
    if !identity.hasSameContent(as: found) { origin = .listed }
    lastEvent = moment.elapsed
    lastEventTime = moment.time
  }

  /// How long a whole file is still waited for, and why.
  func confirmation(
    _ proof: CandidateFinding.WriterProof,
    _ first: Duration,
    isProvable: Bool,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) -> (wake: Duration, stage: Stage) {
    switch proof {
    case .lease where isProvable:
      let reason = "no event tells of its changes: two equal looks are waited for"
      return (moment.elapsed, .confirming(reason))
    case .lease:
      let reason = "the format declares no end: a longer quiet is waited for"
      return (lastEvent + max(rules.quiet, rules.longQuiet), .confirming(reason))
    case .looks:
      let reason = "no lease can be had: two equal looks are waited for"
      return (first + rules.pause(isProvable: isProvable), .confirming(reason))
    }
  }

  /// The end of the quiet of a file whose changes no event tells of; nil for one that is watched.
  ///
  /// It counts from the moment at which its identity was first found as it is now, and from its own
  /// change time. The latter is on a clock that may be set or another host's: where it lies in the
  /// future, only the former counts.
  func ownQuiet(
    _ found: FileIdentity,
    isProvable: Bool,
    _ rules: SettleTracker.Rules,
    at moment: SettleTracker.Moment
  ) -> Duration? {
    guard !isWatched else { return nil }
    let quiet = isProvable ? rules.quiet : max(rules.quiet, rules.longQuiet)
    let changed = Timestamp(milliseconds: found.changed / 1_000_000)
    let age = moment.time.since(changed)
    let unfound = lastEvent + quiet
    return age < .zero ? unfound : max(unfound, moment.elapsed + quiet - age)
  }
}
