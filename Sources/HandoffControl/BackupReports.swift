package import HandoffProtocol
package import Paths

/// What stands in a backup's `manifest.json`; the file is written last, so that a folder without it is no
/// backup.
package struct BackupManifest: Codable, Sendable {
  /// What it is, and the version of the form.
  package static let format = "handoff-backup-1"

  package var format = Self.format
  package var madeAt: Timestamp
  /// Of the program that made it.
  package var version: String
  /// The ledger's number of migrations: an older release does not take a newer one.
  package var schema = 0
  @OrNull package var libraryID: String?
  /// The ledger's last event.
  package var events: Int64 = 0
  package var assets: Int64 = 0
  package var handoffs: Int64 = 0
  package var openHandoffs: Int64 = 0
  /// Bytes of `ledger.db`.
  package var size: Int64 = 0
  /// Of `ledger.db`, in hexadecimal digits.
  package var sha256 = ""
  /// Tells one key from another, and nothing of it; null where it could not be read.
  @OrNull package var keyID: String?
  /// The key is in the backup.
  package var withKey: Bool

  package init(madeAt: Timestamp, version: String, withKey: Bool) {
    self.madeAt = madeAt
    self.version = version
    self.withKey = withKey
    libraryID = nil
    keyID = nil
  }

  private enum CodingKeys: String, CodingKey {
    case format
    case madeAt = "made_at"
    case version
    case schema
    case libraryID = "library_id"
    case events
    case assets
    case handoffs
    case openHandoffs = "open_handoffs"
    case size
    case sha256
    case keyID = "key_id"
    case withKey = "with_key"
  }
}

/// What `handoff backup --json` shows.
package struct BackupReport: Codable, Sendable {
  package var path: String
  package var pathBytes: String?
  package var manifest: BackupManifest

  package init(_ path: BytePath, _ manifest: BackupManifest) {
    let report = PathReport(path)
    self.path = report.path
    pathBytes = report.pathBytes
    self.manifest = manifest
  }

  private enum CodingKeys: String, CodingKey {
    case path
    case pathBytes = "path_bytes"
    case manifest
  }
}

/// What `handoff restore --json` shows.
package struct RestoreReport: Codable, Sendable {
  /// The backup's folder.
  package var backup: String
  package var madeAt: Timestamp
  /// Exports that are older make no automatic handoff.
  package var restoredAt: Timestamp
  /// `state_folder`, `backup` or `new`.
  package var key = ""
  /// Assets that only the library knew.
  package var adopted = 0
  /// Assets that were deleted after the backup was made.
  package var deleted = 0
  /// Records in the library that cannot be read.
  package var problems: [String] = []
  /// Open when the backup was made, and `outcome_unknown` now.
  package var openHandoffs: [HandoffReport] = []
  /// Where the former ledger is; null if there was none.
  @OrNull package var formerLedger: String?

  package init(_ backup: BytePath, madeAt: Timestamp, restoredAt: Timestamp) {
    self.backup = backup.lossyText
    self.madeAt = madeAt
    self.restoredAt = restoredAt
    formerLedger = nil
  }

  private enum CodingKeys: String, CodingKey {
    case backup
    case madeAt = "made_at"
    case restoredAt = "restored_at"
    case key
    case adopted
    case deleted
    case problems
    case openHandoffs = "open_handoffs"
    case formerLedger = "former_ledger"
  }
}
