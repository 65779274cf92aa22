import HandoffCore
import HandoffProtocol
import Paths
import Synchronization

/// Whether exports from before a rebuild of the ledger make automatic handoffs: not until a person says
/// so, since nobody knows which of them were handed off already.
final class HandoffHold: Sendable {
  private let moment: Mutex<Timestamp?>

  /// - Parameter moment: the rebuild; nil where there was none, or a person has said so.
  init(before moment: Timestamp?) {
    self.moment = Mutex(moment)
  }

  var before: Timestamp? { moment.withLock(\.self) }

  func lift() { moment.withLock { $0 = nil } }

  /// The export, or the content that it has, is older than the rebuild.
  ///
  /// The inode's change time decides, which nobody can set; a known content that comes again under a new
  /// inode is as old as its import.
  func holds(_ identity: FileIdentity, of asset: Asset) -> Bool {
    guard let before else { return false }
    return identity.changed / 1_000_000 <= before.milliseconds || asset.importedAt <= before
  }
}
