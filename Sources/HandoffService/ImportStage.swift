import AssetLibrary
import DropFolders
import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Takes each settled export into the library and the ledger, once.
///
/// The order is that of DESIGN.md section 5: resource durable, record, ledger row, and only then the
/// source. A crash after any of them is recovered by the next sighting of the same file.
struct ImportStage: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let sidecars: SidecarReader
  let originals: OriginalStage
  let receipts: ReceiptStage
  let reserve: LibrarySettings.Reserve
  /// When each drop folder was seen for the first time.
  let firstSeen: [BytePath: Timestamp]
  let units: FolderUnits
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// The asset that was made of a file, if it is still the file that was imported.
  ///
  /// Where a crash came between the ledger's commit and the folder's policy for originals, the
  /// policy is carried out now.
  func known(_ path: BytePath, _ identity: FileIdentity) async throws -> LocalIdentifier? {
    let identifier = try await ledger.identifier(sightedAt: path, identity: identity)
    if units.package(of: path) != nil {
      // What follows from the import of a member follows once its package is recorded.
      if let identifier { return identifier }
      return try await adopt(path, identity)
    }
    if let identifier {
      await originals.sawAgain(identifier, at: path)
      // A receipt is made from the ledger, so one that a crash has swallowed is made here.
      receipts.mark(identifier)
    }
    return identifier
  }

  /// The export of the same stem that was taken instead of a finished one.
  ///
  /// It must have been imported after that was finished: under an older name of the same stem another
  /// recording may have been taken.
  func outdone(_ path: BytePath, _ identity: FileIdentity) async throws -> BytePath? {
    for other in units.preferred(to: path) {
      guard let imported = try await ledger.lastImport(from: other) else { continue }
      if identity.changed / 1_000_000 <= imported.milliseconds { return other }
    }
    return nil
  }

  /// A member of a package that a person has taken by hand, finished or not, belongs to the folder too.
  private func adopt(_ path: BytePath, _ identity: FileIdentity) async throws -> LocalIdentifier? {
    guard let folder = units.folder(of: path),
      let identifier = try await ledger.identifier(takenByHandAt: path, identity: identity),
      let asset = try await ledger.asset(identifier)
    else { return nil }
    let sighting = Sighting(path: path, folder: folder.path, identity: identity, seenAt: now())
    _ = try await ledger.recordImport(asset: asset, sighting: sighting, orders: [])
    return identifier
  }

  func take(_ export: SettledExport) async -> ImportOutcome {
    guard units.package(of: export.path) == nil else { return await importing(export, with: nil) }
    let sidecar: SidecarReader.Found?
    do {
      switch try await sidecars.read(for: export.path, in: export.folder) {
      case .none: sidecar = nil
      case .found(let found): sidecar = found
      case .stillWritten:
        return .held(
          reason: "its sidecar is still open for writing",
          state: .waitingSidecar,
          upTo: .seconds(1)
        )
      }
    } catch let error as ConfigurationError {
      return .held(
        reason: "its sidecar is invalid: \(error.description)",
        state: .waitingSidecar,
        upTo: nil
      )
    } catch {
      return failure(error)
    }
    return await importing(export, with: sidecar)
  }

  private func importing(
    _ export: SettledExport,
    with sidecar: SidecarReader.Found?
  ) async -> ImportOutcome {
    do {
      if let shortage = try await shortage(for: export) { return shortage }
      let resource = try await library.importResource(
        from: export.file,
        path: export.path,
        expecting: export.identity,
        mode: export.folder.takesSource ? .take : .copy,
        isStillGood: { !export.isBroken }
      )
      return .imported(try await record(resource, of: export, with: sidecar))
    } catch let error as LibraryError where error.code == .sourceChanged {
      return .changed
    } catch {
      return failure(error)
    }
  }

  private func record(
    _ resource: ImportedResource,
    of export: SettledExport,
    with sidecar: SidecarReader.Found?
  ) async throws -> LocalIdentifier {
    let sighting = Sighting(
      path: export.path,
      folder: export.folder.path,
      identity: export.identity,
      seenAt: now()
    )
    let asset = try await AssetIntake(library: library, logger: logger)
      .asset(of: resource, facts: export.facts, seen: sighting)
    let route = FolderRoute(
      export: export.path,
      folder: export.folder,
      sidecar: sidecar?.sidecar,
      wasThereBefore: wasThereBefore(export)
    )
    let isMember = units.package(of: export.path) != nil
    let orders = isMember ? [] : route.orders(for: [asset.localIdentifier])
    let record = try await ledger.recordImport(
      asset: asset,
      sighting: sighting,
      orders: orders.map { order in
        var order = order
        order.publishAt = route.publishAt?.inHostZone
        return order
      },
      sidecar: sidecar.map { ConsumedSidecar(path: $0.path, identity: $0.identity) },
      holdingSuperseded: export.folder.onSupersede == .hold
    )
    logger.notice(
      record.isNewAsset ? "Imported an export" : "Saw the content of an asset again",
      [
        .exportPath: export.path.displayText, .assetID: record.localIdentifier.text,
        .sha256: asset.digest.hex, .size: String(asset.size), .detail: "\(resource.method)",
      ]
    )
    if !isMember { await originals.imported(asset, from: sighting, in: export.folder) }
    if sidecar != nil { receipts.mark(record.localIdentifier) }
    return record.localIdentifier
  }

  /// It lay in its folder when that was seen for the first time, so the box counts as not ticked.
  ///
  /// The inode's change time decides: nobody can set it, and a move into the folder renews it.
  private func wasThereBefore(_ export: SettledExport) -> Bool {
    guard let firstSeen = firstSeen[export.folder.path] else { return false }
    return export.identity.changed / 1_000_000 <= firstSeen.milliseconds
  }

  /// The brake on intake before the disk is full; nil while there is room.
  private func shortage(for export: SettledExport) async throws -> ImportOutcome? {
    let space = try await library.freeSpace()
    let needed = reserve.bytes(of: space.total) + (export.folder.takesSource ? 0 : export.size)
    guard space.available < needed else { return nil }
    return .failed(
      reason:
        "no space: \(space.available) bytes are free at \(library.path), \(needed) are needed "
        + "with the reserve",
      state: .noSpace,
      mayPass: true
    )
  }

  /// Nothing is lost by a failure: the export stays where it is, and the attempt is made again.
  private func failure(_ error: any Error) -> ImportOutcome {
    let code = (error as? LibraryError)?.code
    return .failed(
      reason: "\(error)",
      state: code == .noSpace ? .noSpace : code == .sourceUnreadable ? .unreadable : .importing,
      mayPass: true
    )
  }
}
