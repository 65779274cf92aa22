import HandoffControl
import HandoffCore
import HandoffProtocol

/// What stands beside an export after its handoffs: `NAME.EXT.handoff.json`.
struct Receipt: Encodable {
  /// How one destination ended, or that it has not.
  struct Entry: Encodable {
    let handoffID: String
    /// `published` is said of destinations behind the check box, `done` of the others.
    let state: String
    @OrNull var message: String?
    let output: [String: JSONValue]
    @OrNull var finishedAt: Timestamp?

    private enum CodingKeys: String, CodingKey {
      case handoffID = "handoff_id"
      case state
      case message
      case output
      case finishedAt = "finished_at"
    }
  }

  let localIdentifier: LocalIdentifier
  let sha256: ContentDigest
  /// The check box as it stands now: true once published or on the way, false after a cancellation.
  let syncPublish: Bool
  let destinations: [String: Entry]

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case sha256
    case syncPublish = "sync_publish"
    case destinations
  }

  /// The receipt of an asset's handoffs as they stand; the newest of each destination counts.
  init(_ asset: Asset, handoffs: [Handoff]) {
    localIdentifier = asset.localIdentifier
    sha256 = asset.digest
    let newest = Dictionary(grouping: handoffs, by: \.destination).compactMapValues { handoffs in
      handoffs.max { $0.id < $1.id }
    }
    let boxed = newest.values.filter(\.syncPublish)
    syncPublish = !boxed.isEmpty && boxed.allSatisfy { $0.status != .cancelled }
    destinations = Dictionary(
      uniqueKeysWithValues: newest.map { ($0.key.text, Entry($0.value)) }
    )
  }
}

extension Receipt.Entry {
  fileprivate init(_ handoff: Handoff) {
    handoffID = handoff.id.description
    state =
      switch handoff.status {
      case .succeeded: handoff.syncPublish ? "published" : "done"
      case .cancelled: "cancelled"
      case .refused, .failed: "failed"
      case .expired: "expired"
      case .outcomeUnknown: "outcome_unknown"
      case .needsUser: "needs_user"
      case .pending, .leased, .submitted, .accepted: "pending"
      }
    message = handoff.error.map { "\($0.code): \($0.message)" }
    output = handoff.output
    finishedAt = handoff.finishedAt
  }
}
