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
  let brake: IntakeBrake
  let turns: AssetTurns
  let results: ResultStage
  let settings: SettingsInForce
  let hold: HandoffHold
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// When each drop folder was seen for the first time.
  var firstSeen: [BytePath: Timestamp] { settings.now.firstSeen }
  var units: FolderUnits { settings.now.units }

  /// The asset that was made of a file, if it is still the file that was imported.
  ///
  /// Where a crash came between the ledger's commit and the folder's policy for originals, the
  /// policy is carried out now.
  func known(_ path: BytePath, _ identity: FileIdentity) async throws -> LocalIdentifier? {
    let identifier = try await ledger.identifier(sightedAt: path, identity: identity)
    // What follows from the import of a member follows once its package is recorded.
    if let identifier, units.package(of: path) == nil {
      await originals.sawAgain(identifier, at: path)
      // A receipt is made from the ledger, so one that a crash has swallowed is made here.
      receipts.mark(identifier)
    }
    return identifier
  }

  /// How soon a library that is away is looked for again.
  private static let libraryWait: Duration = .seconds(3)

  /// The export of the same stem that was taken instead of a finished one.
  ///
  /// It must have been imported after that was finished: under an older name of the same stem another
  /// recording may have been taken. A change of mode or owner finishes nothing anew, so the time of the
  /// content counts; where that was set to the future, the inode's change time, which nobody can set.
  func outdone(_ path: BytePath, _ identity: FileIdentity) async throws -> BytePath? {
    for other in units.preferred(to: path) {
      guard let imported = try await ledger.lastImport(from: other) else { continue }
      let finished = min(identity.modified, identity.changed)
      if finished / 1_000_000 <= imported.milliseconds { return other }
    }
    return nil
  }

  /// Takes one export, with an acceptance where a person takes it although the checks did not pass.
  func take(_ export: SettledExport, acceptance: Acceptance? = nil) async -> ImportOutcome {
    guard units.package(of: export.path) == nil else {
      return await importing(export, with: nil, acceptance)
    }
    let sidecar: SidecarReader.Found?
    do {
      switch try await sidecars.read(for: export.path, in: export.folder) {
      case .none:
        if let wait = sidecarWait(for: export) { return wait }
        sidecar = nil
      case .found(let found): sidecar = found
      case .stillWritten: return Self.sidecarIsWritten
      }
    } catch let error as ConfigurationError {
      return .held(
        reason: "its sidecar is invalid: \(error.description)",
        state: .waitingSidecar,
        upTo: nil
      )
    } catch {
      return failure(error, of: export)
    }
    return await importing(export, with: sidecar, acceptance)
  }

  private func importing(
    _ export: SettledExport,
    with sidecar: SidecarReader.Found?,
    _ acceptance: Acceptance?
  ) async -> ImportOutcome {
    let mode = importMode(of: export)
    do {
      if let shortage = try await brake.shortage(for: mode == .take ? 0 : export.size) {
        return failed(shortage, .noSpace, export)
      }
      let resource = try await library.importResource(
        from: export.file,
        path: export.path,
        expecting: export.identity,
        mode: mode,
        checksum: export.checksum,
        isStillGood: { !export.isBroken }
      )
      // It may have come while the bytes were read.
      let latest = try await latestSidecar(of: export, after: sidecar)
      if case .stillWritten = latest { return Self.sidecarIsWritten }
      return .imported(try await record(resource, of: export, latest.found, acceptance))
    } catch let error as LibraryError where error.code == .sourceChanged {
      return .changed
    } catch let error as LibraryError where error.code == .checksumMismatch {
      return .held(reason: mismatch(error, export), state: .waitingProof, upTo: nil)
    } catch {
      return failure(error, of: export)
    }
  }

  private func record(
    _ resource: ImportedResource,
    of export: SettledExport,
    _ sidecar: SidecarReader.Found?,
    _ acceptance: Acceptance?
  ) async throws -> LocalIdentifier {
    let sighting = Sighting(
      path: export.path,
      folder: export.folder.path,
      identity: export.identity,
      seenAt: now()
    )
    let wasThereBefore = firstSeen[export.folder.path].map {
      export.identity.wasThere(
        at: $0,
        cameByRename: export.cameByRename,
        hasSidecar: sidecar != nil
      )
    }
    let route = FolderRoute(
      export: export.path,
      folder: export.folder,
      sidecar: sidecar?.sidecar,
      wasThereBefore: wasThereBefore ?? false
    )
    let isMember = units.package(of: export.path) != nil
    let orders =
      isMember
      ? []
      : route.datedOrders(
        for: [LocalIdentifier(resource.digest)],
        isBackfill: wasThereBefore == true || export.identity.isBackfill(at: now())
      )
    let (asset, record) = try await turns.take(resource.digest) {
      let asset = try await AssetIntake(library: library, ledger: ledger, logger: logger)
        .asset(of: resource, facts: export.facts, seen: sighting, acceptance: acceptance)
      let verdict = hold.verdict(on: export.identity, of: asset, object: resource.formerChange)
      let record = try await ledger.recordImport(
        asset: asset,
        sighting: sighting,
        orders: verdict == .handedOff ? [] : orders,
        sidecar: sidecar.map { ConsumedSidecar(path: $0.path, identity: $0.identity) },
        onSupersede: export.folder.onSupersede,
        isDoubtful: verdict == .held,
        story: story(of: resource, export)
      )
      return (asset, record)
    }
    logger.notice(
      record.isNewAsset ? "Imported an export" : "Saw the content of an asset again",
      [
        .exportPath: export.path.displayText, .assetID: record.localIdentifier.text,
        .sha256: asset.digest.hex, .size: String(asset.size), .detail: "\(resource.method)",
      ]
    )
    await AssetIntake(library: library, ledger: ledger, logger: logger).recordLink(
      record,
      in: turns
    )
    for id in record.replaced {
      if let handoff = try await ledger.handoff(id) { await results.follow(handoff) }
    }
    if record.isHeld {
      logger.warning(
        "Recorded, and its handoffs are held: it may be older than the rebuild of the ledger",
        [.exportPath: export.path.displayText, .assetID: record.localIdentifier.text]
      )
    }
    if !isMember { await originals.imported(asset, from: sighting, in: export.folder) }
    if sidecar != nil { receipts.mark(record.localIdentifier) }
    return record.localIdentifier
  }

  /// What the import's event tells.
  private func story(of resource: ImportedResource, _ export: SettledExport) -> ImportStory {
    ImportStory(
      settled: now(),
      evidence: export.evidence,
      path: export.path,
      size: resource.size,
      digest: resource.digest,
      method: resource.method.rawValue,
      original: export.folder.original.rawValue
    )
  }

  /// Tells here what failed: an original that was taken and put back is a new candidate, without a reason.
  private func failed(
    _ reason: String,
    _ state: CandidateState,
    _ export: SettledExport
  ) -> ImportOutcome {
    let fields: [LogKey: String] = [
      .exportPath: export.path.displayText, .status: state.rawValue, .reason: reason,
    ]
    switch state {
    case .noSpace:
      logger.warning("An export cannot be taken", fields, cause: CandidateNarrator.noSpace)
    case .importing: logger.warning("An import waits for another try", fields)
    // Each change of any other state is told once; see CandidateNarrator.
    default: break
    }
    return .failed(reason: reason, state: state, mayPass: true)
  }

  /// Nothing is lost by a failure: the export stays where it is, and the attempt is made again.
  private func failure(_ error: any Error, of export: SettledExport) -> ImportOutcome {
    let code = (error as? LibraryError)?.code
    if code == .unavailable {
      return .held(
        reason: "\(error); the import waits for it",
        state: .importing,
        upTo: Self.libraryWait
      )
    }
    let state: CandidateState =
      code == .noSpace ? .noSpace : code == .sourceUnreadable ? .unreadable : .importing
    return failed("\(error)", state, export)
  }
}
