import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Paths

/// Makes an asset of a resource that the library has just taken, and writes its record file: what an
/// import from a drop folder and one by hand have in common before the ledger is told.
struct AssetIntake: Sendable {
  let library: AssetLibrary
  let logger: Logger

  /// The asset with the new sighting beside those that its record already has.
  func asset(
    of resource: ImportedResource,
    facts: MediaFacts,
    seen sighting: Sighting
  ) async throws(LibraryError) -> Asset {
    var asset = Asset(
      digest: resource.digest,
      size: resource.size,
      facts: facts,
      importedAt: sighting.seenAt,
      sources: [sighting]
    )
    if resource.method == .alreadyPresent {
      asset = try await library.record(of: asset.digest)?.seen(at: sighting) ?? asset
    }
    if let damaged = resource.setAside {
      logger.error(
        "A damaged object was set aside and replaced by the export's bytes",
        [.assetID: asset.localIdentifier.text, .path: damaged.displayText]
      )
    }
    try await library.writeRecord(asset)
    return asset
  }
}
