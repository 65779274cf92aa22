import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// An archive in a folder of this machine, or one that is mounted here.
struct LocalStore: ArchiveStore {
  let folder: BytePath

  func keep(
    _ item: ArchiveItem,
    _ progress: @escaping @Sendable (Double) async -> Void
  ) async throws -> ArchiveReceipt {
    try await ArchiveCopy(item, root: folder).keep(progress)
  }

  func checks() async -> [DestinationCheck] { [] }

  func verify(_ asset: DeliveredAsset, at path: BytePath?) async throws -> VerifiedAsset {
    VerifiedAsset(localIdentifier: asset.localIdentifier, standing: .unknown)
  }
}
