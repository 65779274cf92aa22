import HandoffPluginKit
import HandoffProtocol
import Paths

/// Where copies are kept: a folder or a remote.
protocol ArchiveStore: Sendable {
  /// Keeps one asset durably at its place, or under a name beside it if that is taken by other content, with
  /// its line in the manifest; a copy that is there already is enough.
  ///
  /// - Parameters:
  ///   - item: the asset and its place.
  ///   - progress: told the part that is done, 0 to 1.
  /// - Returns: the copy's receipt.
  /// - Throws: `ResultError`; `CancellationError`.
  func keep(
    _ item: ArchiveItem,
    _ progress: @escaping @Sendable (Double) async -> Void
  ) async throws -> ArchiveReceipt

  /// Does what is done once for a handoff, after all of its copies.
  func finish(_ handoffID: String, _ copies: [ArchiveReceipt]) async throws -> [ArchiveReceipt]

  /// What `handoff doctor` is told; changes nothing.
  func checks() async -> [DestinationCheck]

  /// Looks at one copy again.
  ///
  /// - Parameters:
  ///   - asset: what was handed off.
  ///   - path: as in the receipt; nil if that tells of none.
  /// - Returns: what became of it.
  /// - Throws: what keeps it from looking at all.
  func verify(_ asset: DeliveredAsset, at path: BytePath?) async throws -> VerifiedAsset

  /// The same, with the archive's own checksum of the copy as in the receipt; unless it is written, that is not
  /// needed.
  func verify(
    _ asset: DeliveredAsset,
    at path: BytePath?,
    _ checksum: ArchiveReceipt.Checksum?
  ) async throws -> VerifiedAsset
}

extension ArchiveStore {
  func finish(_ handoffID: String, _ copies: [ArchiveReceipt]) async throws -> [ArchiveReceipt] {
    copies
  }

  func verify(
    _ asset: DeliveredAsset,
    at path: BytePath?,
    _ checksum: ArchiveReceipt.Checksum?
  ) async throws -> VerifiedAsset {
    try await verify(asset, at: path)
  }
}

/// One asset of a handoff, and where it shall go.
struct ArchiveItem: Sendable {
  var asset: GrantedAsset
  var place: Layout.Place
  /// Begins with `.handoff-`; the same after a crash, so that nothing is left lying.
  var temporaryName: String
}
