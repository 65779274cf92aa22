import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Deletes assets: first in the ledger, then their bytes.
///
/// A crash in between leaves a deleted asset whose bytes are known to be there still; they are removed
/// after the next start, see ``DeletionStage``.
struct AssetDeletion: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let results: ResultStage
  let turns: AssetTurns
  /// Signalled when bytes were left behind.
  let leftovers: WakeSignal
  let logger: Logger

  struct Outcome: Sendable {
    let deletion: Deletion
    /// False where the bytes could not be removed now; that is tried again.
    let areBytesGone: Bool
  }

  /// Deletes one asset.
  ///
  /// - Throws: ``LedgerError``, as ``Ledger/delete(_:force:reason:)``.
  func delete(
    _ identifier: LocalIdentifier,
    force: Bool,
    reason: String
  ) async throws -> Outcome {
    let deletion = try await ledger.delete(identifier, force: force, reason: reason)
    logger.notice(
      deletion.wasDeleted ? "An asset had been deleted before" : "An asset was deleted",
      [.assetID: identifier.text, .reason: reason]
    )
    for handoff in deletion.ended { await results.follow(handoff) }
    // What a receiver holds goes on without a path: what it has open stays readable.
    for handoff in deletion.open { await results.endGrants(of: handoff) }
    let areBytesGone = await removeBytes(of: identifier)
    if !areBytesGone { leftovers.signal() }
    return Outcome(deletion: deletion, areBytesGone: areBytesGone)
  }

  /// Removes the bytes of a deleted asset; false where that has to be tried again.
  func removeBytes(of identifier: LocalIdentifier) async -> Bool {
    do {
      guard let asset = try await ledger.asset(identifier) else { return true }
      let digests = Set([asset.digest] + asset.renditions.map(\.digest))
      return try await turns.take(digests) {
        // Its content may have come back since.
        guard let asset = try await ledger.asset(identifier), asset.status == .deleted else {
          return true
        }
        let keepsObject = try await ledger.isNeeded(asset.digest, besides: identifier)
        try await library.leaveTombstone(of: asset, keepingObject: keepsObject)
        for rendition in asset.renditions {
          // One that was registered since the look has a turn that was not waited for.
          guard digests.contains(rendition.digest) else { return false }
          guard try await !ledger.isNeeded(rendition.digest, besides: identifier) else { continue }
          try await library.removeObject(rendition.digest)
        }
        try await ledger.recordRemoval(of: identifier)
        return true
      }
    } catch {
      logger.warning(
        "The bytes of a deleted asset could not be removed yet",
        [.assetID: identifier.text, .error: "\(error)"]
      )
      return false
    }
  }
}
