package import HandoffCore
package import HandoffProtocol
package import Paths

/// What the ledger refuses.
///
/// SQLite's own failures pass through as they are.
package enum LedgerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The state folder lies on a file system without sound locks, of a kind with that name.
  case notLocal(BytePath, name: String)
  /// There is no ledger to read.
  case missing(BytePath)
  /// The ledger file is gone or empty, though there was a ledger here.
  case vanished(BytePath)
  /// The file is broken; SQLite's first finding follows.
  case damaged(BytePath, detail: String)
  /// Written by a newer release, or by another program.
  case unusable(BytePath, detail: String)
  /// The ledger has fewer events than its head file says: its end was cut, or it is an old copy.
  case cut(BytePath, found: Int64, expected: Int64)
  /// The ledger has events and no readable head file: it may be an old copy, and what came after the copy
  /// would be handed off once more.
  case headLost(BytePath)
  /// There are handoffs, but the key of their state tokens is gone or has another size.
  case keyLost(BytePath)
  /// Two contents with the same local identifier.
  case identifierCollision(LocalIdentifier)
  case unknownAsset(LocalIdentifier)
  /// It was deleted, so it cannot be handed off.
  case assetDeleted(LocalIdentifier)
  /// It has open handoffs: it is deleted only on purpose.
  case pinned(LocalIdentifier, [Handoff.ID])
  case unknownHandoff(Handoff.ID)
  /// Another attempt holds the handoff, or none does any more.
  case leaseLost(Handoff.ID)
  /// The idempotency key belongs to a handoff with another body.
  case keyReused(Handoff.ID)
  /// The pair of asset and destination has a handoff with this status that has succeeded or may still:
  /// another one must be asked for on purpose.
  case alreadySucceeded(Handoff.ID, HandoffStatus)
  /// The order names no asset, or one twice, or its request would be too large.
  case malformedOrder(DestinationName, detail: String)
  /// What the handoff is ordered after has not succeeded, and nothing is open that may.
  case dependency(ResultError)
  case unknownNotice(Notice.ID)
  /// A person decides only about a notice that was given up; this one has another state.
  case noticeNotFailed(Notice.ID, Notice.State)
  /// The handoff has ended with this status: there is nothing to cancel.
  case hasEnded(Handoff.ID, HandoffStatus)
  /// The life of a handoff does not have this move.
  case illegal(Handoff.ID, IllegalTransition)

  /// What to do about a ledger that cannot be used.
  private static let remedy =
    "`handoff restore` puts a backup in its place, `handoff rebuild` makes it again from the library"

  package var description: String {
    switch self {
    case .notLocal(let path, let name):
      "\(path): a ledger cannot be kept on a network file system or FUSE (this one is \(name)), whose "
        + "locks are not sound; use a local disk"
    case .missing(let path): "\(path): there is no ledger"
    case .vanished(let path):
      "\(path): the ledger is missing or empty, but its key or head is there; \(Self.remedy)"
    case .damaged(let path, let detail):
      "\(path): the ledger is damaged: \(detail); \(Self.remedy)"
    case .unusable(let path, let detail): "\(path): \(detail)"
    case .cut(let path, let found, let expected):
      "\(path): the ledger ends at event \(found), but there were \(expected): its end was cut or "
        + "it is an old copy; \(Self.remedy)"
    case .headLost(let path):
      "\(path): the ledger is there without its head file, so it may be an old copy; \(Self.remedy)"
    case .keyLost(let path):
      "\(path): the key of the ledger's state tokens is lost; put it back, or \(Self.remedy)"
    case .identifierCollision(let identifier): "\(identifier) already names another content"
    case .unknownAsset(let identifier): "\(identifier): no such asset"
    case .assetDeleted(let identifier): "\(identifier): the asset was deleted"
    case .pinned(let identifier, let ids):
      "\(identifier) is pinned by \(ids.map(\.description).joined(separator: ", ")), which has not "
        + "ended; --force deletes it all the same, and what was not sent ends as asset_deleted"
    case .unknownHandoff(let id): "\(id): no such handoff"
    case .leaseLost(let id): "\(id): the lease is lost"
    case .keyReused(let id): "\(id) has the same idempotency key and another body"
    case .alreadySucceeded(let id, let status):
      "\(id) of this asset is \(status.rawValue); it is handed off once more only if so asked"
    case .malformedOrder(let destination, let detail):
      "\(ErrorCode.malformedRequest): \(destination): \(detail)"
    case .dependency(let error):
      error.description + (error.remedy.map { "; \($0)" } ?? "")
    case .unknownNotice(let id): "\(id): no such notice"
    case .noticeNotFailed(let id, let state):
      "\(id) is \(state.rawValue); only a failed notice is decided about"
    case .hasEnded(let id, let status):
      "\(id) has ended: it is \(status.rawValue), and there is nothing to cancel any more"
    case .illegal(let id, let move): "\(id): \(move.event) is not possible when \(move.status)"
    }
  }
}
