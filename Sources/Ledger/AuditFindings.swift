package import HandoffCore
package import HandoffProtocol

/// One thing that is not as the broker has written it.
package struct AuditFinding: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// The row says something else, or stands elsewhere, than when it was written.
    case changed
    case removed
    /// It has no place in the chain.
    case inserted
    /// The end is missing: the head file knows more.
    case cut
    /// The row that the head file names is another one.
    case headDiffers = "head_differs"
    /// There is no head file, or none that can be read: nobody can tell whether the end is there.
    case headMissing = "head_missing"
    /// The broker has never dropped these.
    case inventedPruning = "invented_pruning"
    /// The table says something else than the last event.
    case handoffDiffers = "handoff_differs"
    /// Its events are there, and it is not.
    case handoffRemoved = "handoff_removed"
    /// It is there, and no event tells how it came.
    case handoffUnexplained = "handoff_unexplained"
    case assetDiffers = "asset_differs"
    case assetRemoved = "asset_removed"
    case assetUnexplained = "asset_unexplained"
  }

  package let kind: Kind
  /// The events that it is about.
  package internal(set) var first: Int64?
  package internal(set) var last: Int64?
  package internal(set) var handoff: Handoff.ID?
  package internal(set) var asset: LocalIdentifier?
  /// What is compared, for people.
  package internal(set) var detail: String?

  /// One sentence.
  package var text: String {
    let range = first.map { first in
      first == last ? "event \(first)" : "events \(first) to \(last ?? first)"
    }
    let what =
      range ?? handoff.map { "handoff \($0)" } ?? asset.map { "asset \($0)" } ?? "the head file"
    return "\(what): \(kind.text)" + (detail.map { ": \($0)" } ?? "")
  }
}

extension AuditFinding.Kind {
  fileprivate var text: String {
    switch self {
    case .changed: "changed after being written, or moved here from another place"
    case .removed: "removed"
    case .inserted: "put in"
    case .cut: "cut off the end, or this is an old copy"
    case .headDiffers: "not the one that the head file knows"
    case .headMissing: "missing or unreadable, so that the last events may have been cut off"
    case .inventedPruning: "missing, and the note that they were pruned was not made by the broker"
    case .handoffDiffers: "the row does not say what its events say"
    case .handoffRemoved: "the row was removed, its events are there"
    case .handoffUnexplained: "no event tells how the row came"
    case .assetDiffers: "the row does not say what its events say"
    case .assetRemoved: "the row was removed, its events are there"
    case .assetUnexplained: "no event tells of its import"
    }
  }
}

/// The findings of an audit: bounded, with what follows each other as one.
struct AuditFindings: Sendable {
  private(set) var all: [AuditFinding] = []
  /// How many there are, also those that are not kept.
  private(set) var count = 0
  static let limit = 1_000

  mutating func add(_ kind: AuditFinding.Kind, from first: Int64, to last: Int64) {
    if let end = all.last, end.kind == kind, end.last == first - 1 {
      all[all.count - 1].last = last
    } else {
      add(AuditFinding(kind: kind, first: first, last: last))
    }
  }

  mutating func add(_ finding: AuditFinding) {
    count += 1
    if all.count < Self.limit { all.append(finding) }
  }
}
