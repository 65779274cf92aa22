import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Makes an asset of a resource that the library has just taken, and writes its record file: what an
/// import from a drop folder and one by hand have in common before the ledger is told.
struct AssetIntake: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let logger: Logger

  /// The asset with the new sighting beside those that its record already has, present from now on
  /// whatever that says.
  ///
  /// Call it, and tell the ledger, in one of the asset's turns (``AssetTurns``).
  ///
  /// - Throws: the ledger's error, or ``LibraryError``; `source_changed` where the object was deleted since the import, which
  ///   then has to be made again.
  func asset(
    of resource: ImportedResource,
    facts: MediaFacts,
    seen sighting: Sighting,
    acceptance: Acceptance? = nil
  ) async throws -> Asset {
    guard try await library.holds(resource.digest) else {
      let detail = "the library's object was deleted while the export was imported"
      throw LibraryError(.sourceChanged, sighting.path, detail: detail)
    }
    var asset = Asset(
      digest: resource.digest,
      size: resource.size,
      facts: facts,
      importedAt: sighting.seenAt,
      sources: [sighting]
    )
    // A tombstone's record counts too: what comes back is the same asset with one more sighting.
    let known = try await known(asset)
    if let known {
      asset = known.seen(at: sighting)
      // What was derived from it went with its bytes.
      if known.status == .deleted { asset.renditions = [] }
      asset.status = .present
    }
    asset.acceptance = asset.acceptance ?? acceptance
    if let damaged = resource.setAside {
      logger.error(
        "A damaged object was set aside and replaced by the export's bytes",
        [.assetID: asset.localIdentifier.text, .path: damaged.displayText]
      )
    }
    do throws(LibraryError) {
      try await library.writeRecord(asset)
    } catch {
      if error.code == .noSpace, known == nil, resource.method == .copied {
        await withdraw(asset)
      }
      throw error
    }
    return asset
  }

  /// Removes the copy of an import whose record the full disk did not take.
  ///
  /// Left there, an object that nothing names would keep the space for which its own export waits.
  private func withdraw(_ asset: Asset) async {
    do {
      guard try await !ledger.isNeeded(asset.digest, besides: asset.localIdentifier) else { return }
      try await library.removeObject(asset.digest)
    } catch {
      logger.warning(
        "A copy without a record could not be removed",
        [.sha256: asset.digest.hex, .error: "\(error)"]
      )
    }
  }

  /// The asset as its record has it, or as the ledger has it where there is no record to be read.
  private func known(_ asset: Asset) async throws -> Asset? {
    switch try await library.recordFound(of: asset.digest) {
    case .asset(let recorded): return recorded
    case .nothing: break
    case .malformed:
      logger.warning("A record was written anew", [.sha256: asset.digest.hex])
    }
    return try await ledger.asset(asset.localIdentifier)
  }

  /// Where an import has superseded an asset, writes both assets' records again, so that a ledger made
  /// from the library alone knows the link.
  ///
  /// The ledger has it already: a failure is only told.
  func recordLink(
    _ record: ImportRecord,
    in turns: AssetTurns
  ) async {
    guard let older = record.supersedes else { return }
    for identifier in [older, record.localIdentifier] {
      do {
        guard let digest = try await ledger.asset(identifier)?.digest else { continue }
        try await turns.take(digest) {
          guard let asset = try await ledger.asset(identifier) else { return }
          try await library.writeRecord(asset)
        }
      } catch {
        logger.warning(
          "The record of a superseded asset is behind the ledger",
          [.assetID: identifier.text, .error: "\(error)"]
        )
      }
    }
  }
}
