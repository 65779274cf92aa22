import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// The look at an asset's object before each hand-off.
///
/// Always: that it is there, is a file, and has the asset's size. Where its modification time is not the
/// one that it had when it was last found good (or lies after its import, if it was never read again),
/// somebody wrote to it, and it is read before it is handed off. What changes bytes and no time, as a
/// failing medium does, is found by the schedule of `verify_every` and by `handoff fsck`.
struct ObjectGuard: Sendable {
  enum Verdict: Hashable, Sendable {
    case good
    case damaged
    case missing
    /// It has to be read first; that was asked for.
    case unread
  }

  let library: AssetLibrary
  let ledger: Ledger
  let urgent: UrgentReadings
  let logger: Logger

  func verdict(on asset: Asset) async throws -> Verdict {
    let identifier = asset.localIdentifier
    if let given = asset.given { return try await verdict(on: given, of: identifier) }
    guard let glance = try await library.glance(at: asset.digest) else {
      try await reader.record(.missing, of: identifier, asset.digest)
      return .missing
    }
    guard glance.isRegular, glance.size == asset.size else {
      try await reader.record(.damaged, of: identifier, asset.digest)
      return .damaged
    }
    guard let known = try await ledger.objectKnowledge(of: identifier) else { return .missing }
    if known.status == .damaged { return .damaged }
    let isUntouched =
      known.modified.map { $0 == glance.modified }
      ?? (glance.modified / 1_000_000 <= known.importedAt.milliseconds)
    if known.status == .present, isUntouched { return .good }
    urgent.ask(for: identifier)
    return .unread
  }

  /// The same for a rendition that is given instead of the original.
  private func verdict(
    on rendition: Rendition,
    of identifier: LocalIdentifier
  ) async throws -> Verdict {
    guard let glance = try await library.glance(at: rendition.digest) else {
      try await reader.record(.missing, of: identifier, rendition)
      return .missing
    }
    guard glance.isRegular, glance.size == rendition.size else {
      try await reader.record(.damaged, of: identifier, rendition)
      return .damaged
    }
    if rendition.status == .damaged { return .damaged }
    let isUntouched =
      rendition.modified.map { $0 == glance.modified }
      ?? (glance.modified / 1_000_000 <= rendition.registeredAt.milliseconds)
    if rendition.status == .present, isUntouched { return .good }
    urgent.ask(for: identifier)
    return .unread
  }

  private var reader: ObjectReader {
    ObjectReader(library: library, ledger: ledger, logger: logger)
  }
}
