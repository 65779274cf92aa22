import HandoffProtocol
import Paths

/// The next moments of all candidates: new exports go before back-fill, which was there when its folder
/// was first listed, or was found long after it was finished.
///
/// Of those that are due, back-fill has a turn after so many others, so that it never stands still.
struct LookQueue: Sendable {
  static let newAtMost = 7

  private var new = DeadlineHeap()
  private var backfill = DeadlineHeap()
  /// So many new ones were taken since back-fill had its last turn.
  private var taken = 0

  /// The earliest moment.
  var earliest: Duration? { [new.earliest, backfill.earliest].compactMap(\.self).min() }

  mutating func add(_ path: BytePath, at deadline: Duration, isBackfill: Bool = false) {
    if isBackfill {
      backfill.add(path, at: deadline)
    } else {
      new.add(path, at: deadline)
    }
  }

  /// Takes the next that is due.
  mutating func pop(dueAt now: Duration) -> (path: BytePath, deadline: Duration)? {
    if taken >= Self.newAtMost, let next = backfill.pop(dueAt: now) {
      taken = 0
      return next
    }
    if let next = new.pop(dueAt: now) {
      taken += 1
      return next
    }
    return backfill.pop(dueAt: now)
  }
}

extension SettleTracker {
  /// What was finished so long before it is found, nobody waits for.
  private static let age: Duration = .seconds(-3600)

  /// Whether what a listing finds for the first time gives way to new exports.
  func isBackfill(_ identity: FileIdentity, in folder: Int, at moment: Moment) -> Bool {
    guard listedFolders[folder] != nil else { return true }
    return identity.changed / 1_000_000 < moment.time.advanced(by: Self.age).milliseconds
  }
}

extension Candidate {
  /// What somebody has written or named now is new, whatever was there before.
  mutating func noteNews(_ observation: CandidateObservation) {
    guard isBackfill else { return }
    switch observation {
    case .changed, .renamed:
      isBackfill = false
      // Its entry among the back-fill does not count any more.
      queued = nil
    case .attributes, .listed, .irregular, .vanished: break
    }
  }
}
