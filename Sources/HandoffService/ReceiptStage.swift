import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// Writes the receipt beside an export whose check box was read: how each handoff of it stands.
///
/// A receipt is made from the ledger each time, so a lost or doubled write changes nothing.
struct ReceiptStage: Sendable {
  let ledger: Ledger
  let folders: Set<BytePath>
  let files: BlockingThread
  let logger: Logger

  /// Writes the receipts that a handoff's new status changes.
  func write(for handoff: Handoff) async {
    for identifier in handoff.localIdentifiers { await write(forAsset: identifier) }
  }

  /// Writes the receipts of one asset, beside every export of it that lies in a drop folder.
  func write(forAsset identifier: LocalIdentifier) async {
    do {
      let handoffs = try await ledger.handoffs(ofAsset: identifier)
      let hadBox = try await ledger.hasConsumedSidecar(identifier)
      guard hadBox || handoffs.contains(where: \.syncPublish) else { return }
      guard let asset = try await ledger.asset(identifier) else { return }
      let bytes = try WireCoder.encode(Receipt(asset, handoffs: handoffs)) + [UInt8(ascii: "\n")]
      for sighting in asset.sources where folders.contains(sighting.folder) {
        try await files.run { () throws(SystemError) in
          try Self.put(bytes, beside: sighting.path)
        }
      }
    } catch {
      logger.warning(
        "A receipt was not written",
        [.assetID: identifier.text, .error: "\(error)"]
      )
    }
  }

  /// Under a temporary name first, so that no reader sees half a receipt.
  ///
  /// An export's name of more than 242 bytes leaves no room for a receipt's: then ENAMETOOLONG is
  /// logged.
  private static func put(_ bytes: [UInt8], beside export: BytePath) throws(SystemError) {
    try DurableFile.write(bytes, to: export.addingSuffix(".handoff.json"), permissions: 0o644)
  }
}
