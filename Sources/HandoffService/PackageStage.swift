import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Makes one request for each destination of a directory whose exports are all imported.
///
/// Its members are assets by then, without handoffs and with their originals in place. The ledger makes
/// what is missing and remembers the members, so a crash is repaired by saying the same again, and the
/// originals are only touched after it.
struct PackageStage: Sendable {
  let ledger: Ledger
  let sidecars: SidecarReader
  let originals: OriginalStage
  let receipts: ReceiptStage
  let settings: SettingsInForce
  let hold: HandoffHold
  let logger: Logger

  func record(_ arrival: PackageArrival) async -> PackageOutcome {
    // By its path: the folders' places may be others by now.
    guard let folder = settings.now.units.folder(of: arrival.path) else {
      return refused(arrival, "its drop folder is not configured any more")
    }
    do {
      switch try await sidecars.read(for: arrival.path, in: folder) {
      case .stillWritten:
        return held("its sidecar is still open for writing", upTo: .seconds(1))
      case .none where arrival.quiet < folder.sidecarWait:
        return held("its sidecar is waited for", upTo: folder.sidecarWait - arrival.quiet)
      case .none:
        return try await record(arrival, in: folder, with: nil)
      case .found(let found):
        return try await record(arrival, in: folder, with: found)
      }
    } catch let error as ConfigurationError {
      return held("its sidecar is invalid: \(error.description)", upTo: nil)
    } catch LedgerError.malformedOrder(_, let detail) {
      return refused(arrival, "no request can hold its \(arrival.members.count) exports: \(detail)")
    } catch {
      return .held(reason: "\(error)", state: .importing, upTo: .seconds(5))
    }
  }

  private func record(
    _ arrival: PackageArrival,
    in folder: DropFolderSettings,
    with sidecar: SidecarReader.Found?
  ) async throws -> PackageOutcome {
    var assets: [LocalIdentifier: Asset] = [:]
    for identifier in arrival.localIdentifiers {
      assets[identifier] = try await ledger.asset(identifier)
    }
    let isOld = wasThereBefore(arrival, assets, in: folder, hasSidecar: sidecar != nil)
    let route = FolderRoute(
      export: arrival.path,
      folder: folder,
      sidecar: sidecar?.sidecar,
      wasThereBefore: isOld,
      isPackage: true
    )
    let record = try await ledger.recordPackage(
      arrival.path,
      members: arrival.localIdentifiers,
      handedOff: Set(assets.values.filter(hold.countsAsHandedOff).map(\.localIdentifier)),
      orders: route.datedOrders(for: arrival.localIdentifiers, isBackfill: isOld),
      sidecar: sidecar.map { ConsumedSidecar(path: $0.path, identity: $0.identity) }
    )
    if !record.created.isEmpty {
      logger.notice(
        "Made the requests of a package",
        [
          .exportPath: arrival.path.displayText,
          .detail: "\(arrival.members.count) exports, \(record.created.count) requests",
        ]
      )
    }
    let apart = PackageSummary(arrival, record)
      .sentence(hasDestinations: !route.choices.isEmpty)
    if let apart, record.isNew {
      logger.warning(
        "Not every export of a package is in its requests",
        [.exportPath: arrival.path.displayText, .reason: apart]
      )
    }
    for member in arrival.members {
      await originals.sawAgain(member.localIdentifier, at: member.path)
      // A receipt is made from the ledger, so one that a crash has swallowed is made here.
      receipts.mark(member.localIdentifier)
    }
    return apart.map { .recordedApart($0) } ?? .recorded
  }

  /// One of its exports lay in the folder when that was seen for the first time, so the box counts as not
  /// ticked; the rule is that of single exports.
  private func wasThereBefore(
    _ arrival: PackageArrival,
    _ assets: [LocalIdentifier: Asset],
    in folder: DropFolderSettings,
    hasSidecar: Bool
  ) -> Bool {
    guard let firstSeen = settings.now.firstSeen[folder.path] else { return false }
    return arrival.members.contains { member in
      let sighting = assets[member.localIdentifier]?.sources.first { $0.path == member.path }
      return sighting?.identity.wasThere(
        at: firstSeen,
        cameByRename: member.cameByRename,
        hasSidecar: hasSidecar
      ) ?? false
    }
  }

  private func held(_ reason: String, upTo limit: Duration?) -> PackageOutcome {
    .held(reason: reason, state: .waitingSidecar, upTo: limit)
  }

  private func refused(_ arrival: PackageArrival, _ reason: String) -> PackageOutcome {
    logger.warning(
      "A package has no request",
      [.exportPath: arrival.path.displayText, .reason: reason]
    )
    return .refused(reason)
  }
}
