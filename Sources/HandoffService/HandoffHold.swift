import HandoffCore
import HandoffProtocol
import Paths
import Synchronization

/// What a rebuild or a restored backup of the ledger keeps from being handed off by itself: nobody knows what
/// was handed off before it.
final class HandoffHold: Sendable {
  /// Whether an export may be handed off.
  enum Verdict: Hashable, Sendable {
    case free
    /// It may have been handed off: its orders are written down, and a person decides.
    case held
    /// Its content was an asset before the rebuild: it counts as handed off for good.
    case handedOff
  }

  static let heldReason =
    "its handoffs are held: it may have been handed off before the ledger was rebuilt or restored; "
    + "`handoff rebuild --resume-handoffs` makes them"
  static let handedOffReason =
    "it was imported before the ledger was rebuilt or restored and counts as handed off; `handoff send` "
    + "hands it off"

  private let rebuilt: Timestamp?
  private let isLifted: Mutex<Bool>

  /// - Parameters:
  ///   - rebuilt: when the ledger was made again; nil where it never was.
  ///   - isLifted: a person has let the exports from before go.
  init(rebuilt: Timestamp?, isLifted: Bool) {
    self.rebuilt = rebuilt
    self.isLifted = Mutex(isLifted)
  }

  /// Exports that are older are held; nil where none are.
  var before: Timestamp? { isLifted.withLock(\.self) ? nil : rebuilt }

  func lift() { isLifted.withLock { $0 = true } }

  /// The asset is older than the rebuild, and counts as handed off.
  func countsAsHandedOff(_ asset: Asset) -> Bool {
    guard let rebuilt else { return false }
    return asset.importedAt <= rebuilt
  }

  /// Judges an export that is about to be recorded.
  ///
  /// The inode's change time decides, which nobody can set. An object that was in the library before the
  /// rebuild had a record that is lost: so its content stays in doubt also after a person has let the
  /// exports go.
  ///
  /// - Parameters:
  ///   - identity: the export's.
  ///   - asset: with the time of its first import.
  ///   - object: the age of the object that was there already, in nanoseconds; nil where none was.
  /// - Returns: whether it may be handed off by itself.
  func verdict(on identity: FileIdentity, of asset: Asset, object: Int64?) -> Verdict {
    guard let rebuilt else { return .free }
    if countsAsHandedOff(asset) { return .handedOff }
    let isOld = before != nil && identity.changed / 1_000_000 <= rebuilt.milliseconds
    let wasThere = object.map { $0 / 1_000_000 <= rebuilt.milliseconds } ?? false
    return isOld || wasThere ? .held : .free
  }
}
