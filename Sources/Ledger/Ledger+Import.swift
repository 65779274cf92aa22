package import HandoffCore
package import HandoffProtocol
package import Paths

/// What an import has become in the ledger.
package struct ImportRecord: Hashable, Sendable {
  package let localIdentifier: LocalIdentifier
  /// The content was not known before.
  package let isNewAsset: Bool
  /// The handoffs that were missing and have been made.
  package let created: [Handoff.ID]
  /// What the same path held before.
  package let supersedes: LocalIdentifier?
  /// The content had been deleted: it is back, and nothing was handed off by itself.
  package let revived: Bool
  /// Handoffs of the superseded asset that have ended as cancelled, since the new one's take their place.
  package let replaced: [Handoff.ID]
  /// Its orders were written down, and become handoffs when a person says so.
  package let isHeld: Bool
}

/// A sidecar that an import has used up.
package struct ConsumedSidecar: Hashable, Sendable {
  package let path: BytePath
  package let identity: FileIdentity

  package init(path: BytePath, identity: FileIdentity) {
    self.path = path
    self.identity = identity
  }
}

extension Ledger {
  /// Records an import as one change: the asset unless it is known, the sighting, what the path held
  /// before as superseded, and the handoffs that are missing.
  ///
  /// Content that the path held already for the same folder is ordered nothing unless a sidecar comes with
  /// it: only the file's times or mode have changed.
  ///
  /// An automatic order is skipped where the asset was ever ordered automatically for the
  /// destination, or by hand with success or with an end that is still open. What becomes of the
  /// handoffs of a superseded asset that were not sent is the folder's to say; revived content replaces
  /// none, since it hands nothing off by itself.
  ///
  /// What is doubtful may have been handed off under a ledger that is lost. Content that is not known yet
  /// is held then: its orders, these and later ones, wait for ``resumeHandoffs()``.
  ///
  /// - Throws: ``LedgerError/identifierCollision(_:)`` for another content with the same identifier.
  package func recordImport(
    asset: Asset,
    sighting: Sighting,
    orders: [HandoffOrder],
    sidecar: ConsumedSidecar? = nil,
    onSupersede policy: DropFolderSettings.OnSupersede = .hold,
    isDoubtful: Bool = false,
    story: ImportStory? = nil
  ) async throws -> ImportRecord {
    let told = try story?.text(sidecar: sidecar)
    let prepared = try orders.map { try PreparedOrder($0) }
    return try await write { transaction in
      let known = try transaction.assetKey(asset.localIdentifier)
      if let known, known.digest != asset.digest.bytes {
        throw LedgerError.identifierCollision(asset.localIdentifier)
      }
      let revived = known?.status == Asset.Status.deleted.rawValue
      let row = try transaction.place(asset, known, story: told)
      if let acceptance = asset.acceptance { try transaction.accept(acceptance, asset: row) }
      let isSeenAgain = try transaction.hasLatest(sighting, asset: row)
      let older = try transaction.see(sighting, asset: row)
      var superseded: LocalIdentifier?
      if let older, older != row {
        superseded = try transaction.supersede(older, by: row, policy)
      }
      if let sidecar { try transaction.consume(sidecar, asset: row) }
      if isDoubtful, known == nil { try transaction.markHeld(row) }
      let isHeld = try !revived && transaction.isHeld(row)
      var created: [Handoff.ID] = []
      // Its box has had its say; without it the folder's defaults would count.
      if !revived, !isSeenAgain || sidecar != nil {
        for order in prepared {
          if isHeld {
            guard try !transaction.isOrdered(row, order.order.destination) else { continue }
            try transaction.hold(order, from: sighting.path, isNewWord: sidecar != nil)
          } else if let id = try transaction.orderIfMissing(order) {
            created.append(id)
          }
        }
      }
      var replaced: [Handoff.ID] = []
      // What is held takes nothing's place: it may never go.
      if let older, older != row, policy == .replace, !revived, !isHeld {
        // A sidecar of its own is the sender's newer word on where the export goes.
        let change = try transaction.replaceHeld(of: older, by: row, inheriting: sidecar == nil)
        replaced = change.ended
        created += change.made
      }
      return ImportRecord(
        localIdentifier: asset.localIdentifier,
        isNewAsset: known == nil,
        created: created,
        supersedes: superseded,
        revived: revived,
        replaced: replaced,
        isHeld: isHeld && !prepared.isEmpty
      )
    }
  }

  /// Records what has become of an asset's resource.
  ///
  /// An asset with open handoffs stays: see
  /// ``LedgerReading/openHandoffs(ofAsset:)``.
  package func setStatus(_ status: Asset.Status, of identifier: LocalIdentifier) async throws {
    try await write { transaction in
      guard let known = try transaction.assetKey(identifier) else {
        throw LedgerError.unknownAsset(identifier)
      }
      if known.status != status.rawValue { try transaction.setStatus(status, of: known.row) }
    }
  }
}
