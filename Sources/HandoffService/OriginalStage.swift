import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Does with originals what their folder says, once the ledger has their asset; an original is only
/// touched while it is still the inode that was imported.
struct OriginalStage: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  /// By configured path.
  let folders: [BytePath: DropFolderSettings]
  let logger: Logger

  /// Called after each import, and again for a known export that is still there after a restart.
  func imported(_ asset: Asset, from sighting: Sighting, in folder: DropFolderSettings) async {
    guard !folder.originalWaitsForHandoffs else {
      return await handedOff(asset.localIdentifier)
    }
    await settle(sighting, of: asset.digest, folder)
  }

  /// Called for an export that is there though it was imported: it stays only where its folder says so.
  func sawAgain(_ identifier: LocalIdentifier, at path: BytePath) async {
    guard folders.values.contains(where: { $0.original != .keep }) else { return }
    do {
      guard let asset = try await ledger.asset(identifier),
        let sighting = asset.sources.first(where: { $0.path == path }),
        let folder = folders[sighting.folder], folder.original != .keep
      else { return }
      await imported(asset, from: sighting, in: folder)
    } catch {
      logger.warning(
        "An original was left where it is",
        [.exportPath: path.displayText, .error: "\(error)"]
      )
    }
  }

  /// Called when a handoff of an asset has succeeded.
  func handedOff(_ identifier: LocalIdentifier) async {
    do {
      guard let asset = try await ledger.asset(identifier) else { return }
      let waiting = asset.sources.compactMap { sighting in
        folders[sighting.folder].map { (sighting, $0) }
      }.filter { $1.originalWaitsForHandoffs && $1.original != .keep }
      guard !waiting.isEmpty else { return }
      let handoffs = try await ledger.handoffs(ofAsset: identifier)
      guard handoffs.allSatisfy({ $0.status == .succeeded }) else { return }
      for (sighting, folder) in waiting {
        await settle(sighting, of: asset.digest, folder)
      }
    } catch {
      logger.warning(
        "An original was left where it is",
        [.assetID: identifier.text, .error: "\(error)"]
      )
    }
  }

  private func settle(
    _ sighting: Sighting,
    of digest: ContentDigest,
    _ folder: DropFolderSettings
  ) async {
    do {
      switch folder.original {
      case .keep: return
      case .remove:
        _ = try await library.removeSource(
          sighting.path,
          identity: sighting.identity,
          of: digest
        )
      case .move:
        guard let target = folder.moveTo else { return }
        _ = try await library.moveSource(
          sighting.path,
          identity: sighting.identity,
          of: digest,
          to: target
        )
      }
    } catch {
      logger.warning(
        "The source could not be removed",
        [.exportPath: sighting.path.displayText, .error: "\(error)"]
      )
    }
  }
}
