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
  let folders: [DropFolderSettings]
  /// When each drop folder was seen for the first time.
  let firstSeen: [BytePath: Timestamp]
  let hold: HandoffHold
  let logger: Logger

  func record(_ arrival: PackageArrival) async -> PackageOutcome {
    let folder = folders[arrival.folder]
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
    let route = FolderRoute(
      export: arrival.path,
      folder: folder,
      sidecar: sidecar?.sidecar,
      wasThereBefore: try await wasThereBefore(
        arrival,
        in: folder,
        hasSidecar: sidecar != nil
      ),
      isPackage: true
    )
    let record = try await ledger.recordPackage(
      arrival.path,
      members: arrival.localIdentifiers,
      handedOff: try await handedOff(arrival),
      orders: route.orders(for: arrival.localIdentifiers).map { order in
        var order = order
        order.publishAt = route.publishAt?.inHostZone
        return order
      },
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
    let apart = PackageSummary(arrival, record).sentence(
      isHeld: record.isHeld,
      hasDestinations: !route.orders(for: arrival.localIdentifiers).isEmpty
    )
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
    in folder: DropFolderSettings,
    hasSidecar: Bool
  ) async throws -> Bool {
    guard let firstSeen = firstSeen[folder.path] else { return false }
    for member in arrival.members where !hasSidecar || !member.cameByRename {
      let sources = try await ledger.asset(member.localIdentifier)?.sources ?? []
      guard let sighting = sources.first(where: { $0.path == member.path }) else { continue }
      let identity = sighting.identity
      if !hasSidecar, identity.modified / 1_000_000 <= firstSeen.milliseconds { return true }
      if !member.cameByRename, identity.changed / 1_000_000 <= firstSeen.milliseconds {
        return true
      }
    }
    return false
  }

  /// Its exports that are older than a rebuild of the ledger, and count as handed off.
  private func handedOff(_ arrival: PackageArrival) async throws -> Set<LocalIdentifier> {
    var old: Set<LocalIdentifier> = []
    for member in arrival.members {
      guard let asset = try await ledger.asset(member.localIdentifier),
        hold.countsAsHandedOff(asset)
      else { continue }
      old.insert(member.localIdentifier)
    }
    return old
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
