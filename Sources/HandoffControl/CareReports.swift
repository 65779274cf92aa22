package import HandoffProtocol
package import Paths

/// The parameters of `gc`.
package struct ClearingParameters: Codable, Sendable {
  /// Only say what would go.
  package var dryRun: Bool
  /// What changed within this time may belong to a running import, and stays.
  package var olderThanMilliseconds: Int64
  /// Objects that were set aside as damaged go too if they are older than this; nil: they stay.
  package var setAsideOlderThanMilliseconds: Int64?

  package init(dryRun: Bool, olderThan: Duration, setAsideOlderThan: Duration?) {
    self.dryRun = dryRun
    olderThanMilliseconds = olderThan.wholeMilliseconds
    setAsideOlderThanMilliseconds = setAsideOlderThan?.wholeMilliseconds
  }

  private enum CodingKeys: String, CodingKey {
    case dryRun = "dry_run"
    case olderThanMilliseconds = "older_than_ms"
    case setAsideOlderThanMilliseconds = "set_aside_older_than_ms"
  }
}

/// What was nobody's, as `handoff gc --json` shows it.
package struct ClearingReport: Codable, Sendable {
  /// One file, or one handoff's folder of grants.
  package struct Item: Codable, Sendable {
    /// `staging`, `object`, `record`, `set_aside` or `grants`.
    package var kind: String
    package var path: String
    package var pathBytes: String?
    /// Bytes that it frees.
    package var size: Int64

    package init(kind: String, _ path: BytePath, size: Int64) {
      let report = PathReport(path)
      self.kind = kind
      self.path = report.path
      self.pathBytes = report.pathBytes
      self.size = size
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case path
      case pathBytes = "path_bytes"
      case size
    }
  }

  package var dryRun: Bool
  /// What was removed, or would be.
  package var removed: [Item] = []
  package var bytes: Int64 = 0

  package init(dryRun: Bool) {
    self.dryRun = dryRun
  }

  package mutating func add(_ item: Item) {
    removed.append(item)
    bytes += item.size
  }

  private enum CodingKeys: String, CodingKey {
    case dryRun = "dry_run"
    case removed
    case bytes
  }
}

/// How the ledger was made again, as `handoff rebuild --json` shows it.
package struct RebuildReport: Codable, Sendable {
  package var assets = 0
  /// Tombstones among them.
  package var deleted = 0
  package var missing = 0
  package var damaged = 0
  package var sightings = 0
  /// Objects without a record, of which nothing is known.
  package var orphans = 0
  /// Records that cannot be read.
  package var problems: [String] = []
  /// Handoffs of the former ledger that had not ended: whether they happened, only the destination knows.
  package var openHandoffs: [HandoffReport] = []
  /// Where the former ledger is; null if there was none.
  @OrNull package var formerLedger: String?
  /// Exports that are older make no automatic handoff.
  package var rebuiltAt: Timestamp

  package init(rebuiltAt: Timestamp) {
    self.rebuiltAt = rebuiltAt
    self.formerLedger = nil
  }

  private enum CodingKeys: String, CodingKey {
    case assets
    case deleted
    case missing
    case damaged
    case sightings
    case orphans
    case problems
    case openHandoffs = "open_handoffs"
    case formerLedger = "former_ledger"
    case rebuiltAt = "rebuilt_at"
  }
}

/// The library's line of `handoff status`.
package struct LibraryReport: Codable, Sendable {
  package var path: String
  /// `available`, or `unavailable` while its mount is away.
  package var status: String
  package var assets: Int
  /// Of all assets.
  package var bytes: Int64
  package var damaged: Int
  package var missing: Int
  /// The last time that any object was read again.
  @OrNull package var lastVerifiedAt: Timestamp?
  /// Every object was read at or after this moment, at its import or since.
  @OrNull package var allVerifiedSince: Timestamp?
  /// The last whole `fsck`.
  @OrNull package var checkedAt: Timestamp?
  /// Exports from before this moment make no automatic handoff until `rebuild --resume-handoffs`.
  @OrNull package var handoffsHeldBefore: Timestamp?

  package init(_ path: BytePath, isAvailable: Bool) {
    self.path = path.lossyText
    status = isAvailable ? "available" : "unavailable"
    assets = 0
    bytes = 0
    damaged = 0
    missing = 0
    lastVerifiedAt = nil
    allVerifiedSince = nil
    checkedAt = nil
    handoffsHeldBefore = nil
  }

  private enum CodingKeys: String, CodingKey {
    case path
    case status
    case assets
    case bytes
    case damaged
    case missing
    case lastVerifiedAt = "last_verified_at"
    case allVerifiedSince = "all_verified_since"
    case checkedAt = "checked_at"
    case handoffsHeldBefore = "handoffs_held_before"
  }
}
