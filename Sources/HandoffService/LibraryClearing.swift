import AssetLibrary
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Removes what is nobody's, and nothing else: never an object with a living asset, nor one with a record
/// unless its asset was deleted, never a tombstone, nothing that changed so lately that an import that runs may own it.
struct LibraryClearing: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let now: @Sendable () -> Timestamp
  let logger: Logger

  private static let batch = 500

  func run(_ parameters: ClearingParameters) async throws -> ClearingReport {
    if let absence = await library.absence() { throw absence }
    var report = ClearingReport(dryRun: parameters.dryRun)
    let moment = now().milliseconds
    let old = moment - parameters.olderThanMilliseconds
    let oldAside = parameters.setAsideOlderThanMilliseconds.map { moment - $0 }
    let leftovers = try await library.leftovers()
    for batch in leftovers.batches(of: Self.batch) {
      let statuses = try await ledger.statuses(of: batch.compactMap(\.digest))
      for leftover in batch {
        let status = leftover.digest.flatMap { statuses[$0] }
        guard let limit = leftover.kind == .setAside ? oldAside : old,
          leftover.changed / 1_000_000 <= limit, try await isNobodys(leftover, status)
        else { continue }
        try await clear(leftover, limit: limit, into: &report)
      }
    }
    try await clearGrants(endedBefore: Timestamp(milliseconds: old), into: &report)
    return report
  }

  private func isNobodys(_ leftover: Leftover, _ status: Asset.Status?) async throws -> Bool {
    switch leftover.kind {
    case .staging, .setAside: true
    case .object: status == .deleted || status == nil && !leftover.hasCompanion
    case .record: try await isNobodysRecord(leftover, status)
    }
  }

  /// A record is somebody's while the ledger has the asset, and for ever as a tombstone.
  ///
  /// One that cannot be read is for a person.
  private func isNobodysRecord(
    _ leftover: Leftover,
    _ status: Asset.Status?
  ) async throws -> Bool {
    guard status == nil, let digest = leftover.digest else { return false }
    switch try await library.recordFound(of: digest) {
    case .asset(let asset): return asset.status != .deleted
    case .nothing, .malformed: return false
    }
  }

  private func clear(
    _ leftover: Leftover,
    limit: Int64,
    into report: inout ClearingReport
  ) async throws {
    if !report.dryRun {
      guard try await library.clear(leftover, unchangedSince: limit * 1_000_000 + 999_999) else {
        return
      }
      logger.info(
        "Removed what was nobody's",
        [.path: leftover.path.displayText, .size: String(leftover.size)]
      )
    }
    report.add(.init(kind: leftover.kind.rawValue, leftover.path, size: leftover.size))
  }

  /// Grants of handoffs that have ended, or that the ledger does not know.
  private func clearGrants(
    endedBefore moment: Timestamp,
    into report: inout ClearingReport
  ) async throws {
    for (destination, name) in try await library.granted() {
      guard let destination = destination.exactText.flatMap({ DestinationName($0) }),
        let text = name.exactText, let id = Handoff.ID(text)
      else { continue }
      if let handoff = try await ledger.handoff(id) {
        guard let end = handoff.finishedAt, end <= moment else { continue }
      }
      if !report.dryRun { try await library.endGrants(destination: destination, handoff: text) }
      let path = library.grantsPath(destination: destination).appending(name)
      report.add(.init(kind: "grants", path, size: 0))
    }
  }
}
