package import HandoffProtocol
package import Paths

/// The parameters of `fsck`.
package struct CheckParameters: Codable, Sendable {
  /// Only this asset; nil for all.
  package var localIdentifier: LocalIdentifier?
  /// Begin anew, whatever an interrupted check has read.
  package var restart: Bool
  /// At most; nil for as fast as it goes.
  package var bytesPerSecond: Int64?

  package init(
    localIdentifier: LocalIdentifier? = nil,
    restart: Bool = false,
    bytesPerSecond: Int64? = nil
  ) {
    self.localIdentifier = localIdentifier
    self.restart = restart
    self.bytesPerSecond = bytesPerSecond
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case restart
    case bytesPerSecond = "bytes_per_second"
  }
}

/// The parameters of `fsck_progress`: answered once there is more than the caller knows.
package struct CheckProgressParameters: Codable, Sendable {
  /// ``CheckReport/step`` of the last report that the caller has.
  package var after: Int

  package init(after: Int) {
    self.after = after
  }
}

/// How far a check of the library has come and what it has found, as `handoff fsck --json` shows it.
package struct CheckReport: Codable, Sendable {
  package enum State: String, Codable, Sendable {
    case running
    /// Everything was read.
    case done
    /// Ended early; the next one goes on from there.
    case stopped
    /// ``CheckReport/error`` says why.
    case failed
  }

  /// Something that is not as it should be.
  package struct Finding: Codable, Sendable {
    package enum Kind: String, Codable, Sendable {
      /// The object's bytes are not those that its name says. It is never handed off.
      case damaged
      /// The ledger has the asset, the library no object.
      case missing
      /// An object that the ledger does not know.
      case orphanObject = "orphan_object"
      /// A record without an object, of an asset that the ledger does not know.
      case orphanRecord = "orphan_record"
      /// An asset without a record, which a rebuild would not find.
      case missingRecord = "missing_record"
      case malformedRecord = "malformed_record"
      /// The object of an asset that was deleted.
      case leftObject = "left_object"
      /// A file under `objects` that is neither object nor record.
      case stray
      /// An object that somebody could write to.
      case permissions
    }

    package var kind: Kind
    package var path: String
    package var pathBytes: String?
    @OrNull package var localIdentifier: LocalIdentifier?
    /// It is as it should be now.
    package var mended: Bool

    package init(
      _ kind: Kind,
      _ path: BytePath,
      _ localIdentifier: LocalIdentifier? = nil,
      mended: Bool = false
    ) {
      let report = PathReport(path)
      self.kind = kind
      self.path = report.path
      self.pathBytes = report.pathBytes
      self.localIdentifier = localIdentifier
      self.mended = mended
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case path
      case pathBytes = "path_bytes"
      case localIdentifier = "local_identifier"
      case mended
    }
  }

  package var state: State
  /// Grows with each change of the report.
  package var step = 0
  package var startedAt: Timestamp
  /// It goes on where an earlier one was interrupted.
  package var resumed = false
  /// Objects that were read, by this check and those that it goes on from.
  package var objects = 0
  package var objectsTotal = 0
  package var bytes: Int64 = 0
  package var bytesTotal: Int64 = 0
  package var findings: [Finding] = []
  @OrNull package var error: String?

  package init(state: State, startedAt: Timestamp) {
    self.state = state
    self.startedAt = startedAt
    self.error = nil
  }

  private enum CodingKeys: String, CodingKey {
    case state
    case step
    case startedAt = "started_at"
    case resumed
    case objects
    case objectsTotal = "objects_total"
    case bytes
    case bytesTotal = "bytes_total"
    case findings
    case error
  }
}
