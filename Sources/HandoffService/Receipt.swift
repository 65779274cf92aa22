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
    /// While it is held until a moment: that moment in the host's zone, with its offset.
    var publishAt: String?
    @OrNull var finishedAt: Timestamp?

    private enum CodingKeys: String, CodingKey {
      case handoffID = "handoff_id"
      case state
      case message
      case output
      case publishAt = "publish_at"
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
    let newest = handoffs.newest
    syncPublish = newest.isTicked
    destinations = newest.entries
  }
}

/// What stands beside a package after its handoffs: `DIR.handoff.json`.
struct PackageReceipt: Encodable {
  /// Of all its exports that were handed off together.
  let localIdentifiers: [LocalIdentifier]
  let syncPublish: Bool
  let destinations: [String: Receipt.Entry]

  private enum CodingKeys: String, CodingKey {
    case localIdentifiers = "local_identifiers"
    case syncPublish = "sync_publish"
    case destinations
  }

  /// The receipt of the handoffs that hold one of its assets.
  init(_ identifier: LocalIdentifier, handoffs: [Handoff]) {
    let newest = handoffs.newest
    localIdentifiers =
      newest.values.map(\.localIdentifiers).max { $0.count < $1.count } ?? [identifier]
    syncPublish = newest.isTicked
    destinations = newest.entries
  }
}

extension [Handoff] {
  /// The newest of each destination.
  fileprivate var newest: [DestinationName: Handoff] {
    Dictionary(grouping: self, by: \.destination).compactMapValues { handoffs in
      handoffs.max { $0.id < $1.id }
    }
  }
}

extension [DestinationName: Handoff] {
  /// The check box as it stands now.
  fileprivate var isTicked: Bool {
    let boxed = values.filter(\.syncPublish)
    return !boxed.isEmpty && boxed.allSatisfy { $0.status != .cancelled }
  }

  fileprivate var entries: [String: Receipt.Entry] {
    [String: Receipt.Entry](uniqueKeysWithValues: map { ($0.key.text, Receipt.Entry($0.value)) })
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
    if let waiting = handoff.waiting, waiting.reason == .publishAt {
      publishAt = waiting.until?.inHostZone
    }
    finishedAt = handoff.finishedAt
  }
}
