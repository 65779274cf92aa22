import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// Does with originals what their folder says, once the ledger has their asset; an original is only
/// touched while it is still the inode that was imported.
struct OriginalStage: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let settings: SettingsInForce
  let turns: AssetTurns
  let hold: HandoffHold
  let logger: Logger

  /// By configured path.
  var folders: [BytePath: DropFolderSettings] { settings.now.folders }

  /// Called after each import, and again for a known export that is still there after a restart.
  func imported(_ asset: Asset, from sighting: Sighting, in folder: DropFolderSettings) async {
    guard folder.original != .keep else { return }
    guard folder.originalWaitsForHandoffs else {
      return await settle(sighting, of: asset, folder)
    }
    await remember(true, sighting.path, asset.localIdentifier)
    await handedOff(asset.localIdentifier)
  }

  /// Called for an export that is there though it was imported: it stays only where its folder says so.
  func sawAgain(_ identifier: LocalIdentifier, at path: BytePath) async {
    guard folders.values.contains(where: { $0.original != .keep }) else { return }
    do {
      guard let asset = try await ledger.asset(identifier), asset.status == .present,
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

  /// Called when a handoff has ended.
  func ended(_ handoff: Handoff) async {
    guard folders.values.contains(where: { $0.waitsWithOriginal }) else { return }
    for identifier in handoff.localIdentifiers {
      await handedOff(identifier)
    }
  }

  /// Called at each start: folders whose policy was changed do not wait any more.
  func forgetChangedFolders() async throws {
    let waiting = folders.values.filter(\.waitsWithOriginal).map(\.path)
    try await ledger.forgetWaitingOriginals(outside: Set(waiting))
  }

  /// Lets go of originals that somebody has removed, in folders that are there.
  func forgetRemoved(in folders: Set<BytePath>, files: BlockingThread) async throws {
    for original in try await ledger.waitingOriginals() where folders.contains(original.folder) {
      let isThere = try await files.run { () throws(SystemError) in
        try FileStatus.of(original.path) != nil
      }
      if !isThere {
        try await ledger.setOriginalWaits(
          false,
          at: original.path,
          of: original.localIdentifier
        )
      }
    }
  }

  /// Why an original that waits is still there, in one sentence.
  func reasonToStay(_ identifier: LocalIdentifier) async throws -> String {
    let handoffs = try await ledger.handoffs(ofAsset: identifier)
    if let reason = try await reasonToHold(identifier, handoffs) { return reason }
    let open = handoffs.filter { !$0.status.isFinal }
    if !open.isEmpty {
      return "the original stays until \(Self.list(open)) has succeeded"
    }
    if handoffs.isEmpty, try await isOwed(identifier) {
      return "the original stays, since it was handed off to nobody"
    }
    guard !Self.isHandedOff(handoffs) else {
      return "the original could not be removed or moved; the log tells why"
    }
    let unsuccessful = handoffs.filter { $0.status != .succeeded }
    return "the original stays, since \(Self.list(unsuccessful)) did not succeed"
  }

  /// A folder that it was seen in names destinations.
  private func isOwed(_ identifier: LocalIdentifier) async throws -> Bool {
    let sources = try await ledger.asset(identifier)?.sources ?? []
    return sources.contains { folders[$0.folder]?.hasDestinations == true }
  }

  private static func list(_ handoffs: [Handoff]) -> String {
    handoffs.map { "\($0.id) to \($0.destination)" }.joined(separator: ", ")
  }

  /// Nothing is open, and every destination that was ever tried has it.
  static func isHandedOff(_ handoffs: [Handoff]) -> Bool {
    let reached = Set(handoffs.filter { $0.status == .succeeded }.map(\.destination))
    return handoffs.allSatisfy { $0.status.isFinal && reached.contains($0.destination) }
  }

  /// A rebuild of the ledger leaves open whether the asset was handed off; nil where it does not.
  private func reasonToHold(
    _ identifier: LocalIdentifier,
    _ handoffs: [Handoff]
  ) async throws -> String? {
    if try await ledger.isHeld(identifier) {
      return "the original stays: " + HandoffHold.heldReason
    }
    guard handoffs.isEmpty, let asset = try await ledger.asset(identifier),
      hold.countsAsHandedOff(asset)
    else { return nil }
    return
      "the original stays: nobody knows whether it was handed off before the ledger was rebuilt or "
      + "restored"
  }

  private func handedOff(_ identifier: LocalIdentifier) async {
    do {
      guard let asset = try await ledger.asset(identifier), asset.status == .present else { return }
      let waiting = asset.sources.compactMap { sighting in
        folders[sighting.folder].map { (sighting, $0) }
      }.filter { $1.waitsWithOriginal }
      guard !waiting.isEmpty else { return }
      let handoffs = try await ledger.handoffs(ofAsset: identifier)
      guard Self.isHandedOff(handoffs), try await reasonToHold(identifier, handoffs) == nil
      else { return }
      // Recorded without handoffs, as after a rebuild of the ledger, it has reached nobody.
      for (sighting, folder) in waiting where !handoffs.isEmpty || !folder.hasDestinations {
        await settle(sighting, of: asset, folder)
      }
    } catch {
      logger.warning(
        "An original was left where it is",
        [.assetID: identifier.text, .error: "\(error)"]
      )
    }
  }

  private func settle(_ sighting: Sighting, of asset: Asset, _ folder: DropFolderSettings) async {
    do {
      let isDone = try await turns.take(asset.digest) {
        // Deleted meanwhile, the original may be the last copy.
        guard try await ledger.asset(asset.localIdentifier)?.status == .present else {
          return false
        }
        try await carryOut(folder, on: sighting, of: asset.digest)
        return true
      }
      if isDone, folder.originalWaitsForHandoffs {
        let event = folder.original == .move ? "original_moved" : "original_removed"
        await remember(false, sighting.path, asset.localIdentifier, event)
      }
    } catch {
      logger.warning(
        "The source could not be removed",
        [.exportPath: sighting.path.displayText, .error: "\(error)"]
      )
    }
  }

  private func carryOut(
    _ folder: DropFolderSettings,
    on sighting: Sighting,
    of digest: ContentDigest
  ) async throws {
    switch folder.original {
    case .keep: return
    case .remove:
      _ = try await library.removeSource(sighting.path, identity: sighting.identity, of: digest)
    case .move:
      guard let target = folder.moveTo else { return }
      _ = try await library.moveSource(
        sighting.path,
        identity: sighting.identity,
        of: digest,
        to: target
      )
    }
  }

  /// The flag guards against deletion by age, and tells what to list; the original's own state decides.
  private func remember(
    _ waits: Bool,
    _ path: BytePath,
    _ identifier: LocalIdentifier,
    _ event: String? = nil
  ) async {
    do {
      try await ledger.setOriginalWaits(waits, at: path, of: identifier, event: event)
    } catch {
      logger.warning(
        "It could not be written down whether an original waits",
        [.exportPath: path.displayText, .error: "\(error)"]
      )
    }
  }
}

extension DropFolderSettings {
  /// Its originals are touched, but not before everything has been handed off.
  var waitsWithOriginal: Bool { originalWaitsForHandoffs && original != .keep }

  /// Its exports may be handed off by themselves.
  var hasDestinations: Bool { !handoff.isEmpty || !syncPublishTo.isEmpty }
}
