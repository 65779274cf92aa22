import AssetLibrary
import Glibc
package import HandoffConfig
package import HandoffControl
import HandoffCore
package import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
package import Paths

/// Puts the ledger of a backup in the place of the one that is there or is lost, while no broker runs.
///
/// What is there is moved aside. A backup knows nothing of what came after it: assets that only the library
/// knows are taken up from their records, as a rebuild does; what was open then may have ended since, and
/// becomes `outcome_unknown`; and nothing that is older than the restoration is handed off by itself.
package struct LedgerRestoration: Sendable {
  let configuration: Configuration
  let backup: BytePath
  let progress: CheckProgress
  let logger: Logger

  private static let batch = 500

  /// - Parameters:
  ///   - configuration: whose state folder gets the ledger, and whose library it is compared with.
  ///   - backup: the backup's folder, or one of folders that `backup --dated` made.
  ///   - progress: counts bytes of the ledger and records of the library.
  ///   - logger: told of what does not fail it.
  package init(
    _ configuration: Configuration,
    backup: BytePath,
    progress: CheckProgress,
    logger: Logger
  ) {
    self.configuration = configuration
    self.backup = backup
    self.progress = progress
    self.logger = logger
  }

  /// Restores.
  ///
  /// - Throws: ``ServiceError`` while a broker runs; ``ControlError`` with `unavailable` while the library is
  ///   away, with `notFound` or `refused` for what is no backup; `LedgerError` for one that is damaged or
  ///   newer. Nothing was changed then.
  package func run() async throws -> RestoreReport {
    try await progress.failing { try await restore() }
  }

  private func restore() async throws -> RestoreReport {
    let state = StateFolder(configuration.broker.state)
    try Directory.createDurably(state.path, permissions: 0o700)
    try requireOwner(state)
    try Ledger.checkPlace(state.path)
    let lock = try BrokerLock(state)
    defer { withExtendedLifetime(lock) {} }
    let (folder, manifest) = try BackupFolder.find(backup)
    guard let digest = ContentDigest(hex: manifest.sha256) else {
      throw ControlError(.refused, "\(folder.manifest.displayText) names no digest")
    }
    let library = try await LibraryCare.openLibrary(
      configuration,
      expecting: manifest.libraryID,
      logger
    )
    progress.change { report in
      report.objectsTotal = 1
      report.bytesTotal = manifest.size
    }
    let staging = LedgerStaging(
      backup: folder.path,
      staged: state.rebuilding,
      directory: state.path,
      digest: digest,
      keyID: manifest.keyID
    )
    let key = try await Self.thread.run { [progress] in
      // What an interrupted one has left.
      try Directory.removeTree(state.rebuilding)
      try Directory.create(state.rebuilding, permissions: 0o700)
      return try staging.run { progress.read($0) }
    }
    var report = RestoreReport(
      folder.path,
      madeAt: manifest.madeAt,
      restoredAt: SystemClock.now()
    )
    report.key = key.rawValue
    let former = await former(state, report.restoredAt)
    let end = try await takeUp(state, library, hasNewKey: key == .new, after: former, &report)
    let exchange = LedgerExchange(state: state, library: library, files: Self.thread)
    report.formerLedger = try await exchange.run(end: end, at: report.restoredAt)?.lossyText
    progress.change { $0.state = .done }
    return report
  }

  /// Files that root makes are none that the broker can open.
  private func requireOwner(_ state: StateFolder) throws {
    guard geteuid() == 0, let owner = try FileStatus.of(state.path, following: true)?.owner,
      owner != 0
    else { return }
    throw ControlError(
      .refused,
      "\(state.path.displayText) belongs to the user with the number \(owner): run this as that user"
    )
  }

  /// The number after which new handoffs begin, and what else holds of the ledger that is there.
  ///
  /// Where it cannot be read, that is the count of minutes since 1970, which no ledger reaches: receivers
  /// may have had any number since the backup was made.
  private func former(
    _ state: StateFolder,
    _ moment: Timestamp
  ) async -> (last: Int64, remains: LedgerRemains) {
    do {
      let reader = try await Ledger.openForReading(directory: state.path)
      let last = try await reader.lastHandoffRow()
      let remains = await reader.remains(logger)
      try await reader.close()
      return (last, remains)
    } catch {
      logger.info("Nothing can be read of the former ledger", [.error: "\(error)"])
      return (moment.milliseconds / 60_000, LedgerRemains())
    }
  }

  // MARK: What came after the backup

  /// - Returns: where the new ledger ends.
  private func takeUp(
    _ state: StateFolder,
    _ library: AssetLibrary,
    hasNewKey: Bool,
    after former: (last: Int64, remains: LedgerRemains),
    _ report: inout RestoreReport
  ) async throws -> LedgerPosition {
    let ledger = try await Ledger.open(
      directory: state.rebuilding,
      logger: logger,
      now: SystemClock.now
    )
    let open = try await ledger.takeUp(
      restoredAt: report.restoredAt,
      hasNewKey: hasNewKey,
      handoffsAfter: former.last
    )
    report.openHandoffs = open.map(HandoffReport.init)
    let contents = try await library.contents()
    report.problems = contents.problems.map(\.description)
    progress.change { change in
      change.objects = 0
      change.objectsTotal = contents.assets.count
      change.bytesTotal = 0
    }
    var adopted: [Asset] = []
    for batch in contents.assets.batches(of: Self.batch) {
      let known = try await ledger.statuses(of: batch.map(\.digest))
      for asset in batch {
        if let status = known[asset.digest] {
          if try await follow(asset, status, ledger, library) { report.deleted += 1 }
        } else {
          adopted.append(asset)
        }
        progress.change { $0.objects += 1 }
      }
    }
    try await adopt(adopted, ledger, library)
    report.adopted = adopted.count
    try await ledger.takeOver(former.remains)
    let end = try await ledger.position()
    try await ledger.close()
    return end
  }

  /// Deletes what was deleted since, and takes back what was imported again since; true for the former.
  private func follow(
    _ asset: Asset,
    _ status: Asset.Status,
    _ ledger: Ledger,
    _ library: AssetLibrary
  ) async throws -> Bool {
    switch (asset.status, status) {
    case (.deleted, .deleted): return false
    case (.deleted, _):
      _ = try await ledger.delete(
        asset.localIdentifier,
        force: true,
        reason: "deleted after the backup was made"
      )
      if try await library.glance(at: asset.digest) == nil {
        try await ledger.recordRemoval(of: asset.localIdentifier)
      }
      return true
    case (_, .deleted):
      let status = try await judged(asset, library)
      try await ledger.setStatus(status, of: asset.localIdentifier)
      return false
    default: return false
    }
  }

  private func adopt(
    _ assets: [Asset],
    _ ledger: Ledger,
    _ library: AssetLibrary
  ) async throws {
    for batch in assets.batches(of: Self.batch) {
      var judgedBatch: [Asset] = []
      for var asset in batch {
        asset.status = try await judged(asset, library)
        judgedBatch.append(asset)
      }
      try await ledger.restore(judgedBatch)
      for asset in judgedBatch where asset.status == .deleted {
        guard try await library.glance(at: asset.digest) == nil else { continue }
        try await ledger.recordRemoval(of: asset.localIdentifier)
      }
    }
    let sightings = assets.flatMap { asset in
      asset.sources.map { PastSighting(asset: asset.localIdentifier, sighting: $0) }
    }.sorted { $0.sighting.seenAt < $1.sighting.seenAt }
    for batch in sightings.batches(of: Self.batch) { try await ledger.replay(Array(batch)) }
  }

  /// The status that the object gives an asset; nothing is read.
  private func judged(_ asset: Asset, _ library: AssetLibrary) async throws -> Asset.Status {
    if asset.status == .deleted { return .deleted }
    guard let glance = try await library.glance(at: asset.digest) else { return .unavailable }
    return glance.isRegular && glance.size == asset.size ? .present : .damaged
  }

  private static let thread = BlockingThread("restore")
}
