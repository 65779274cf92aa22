import AssetLibrary
package import HandoffConfig
package import HandoffControl
import HandoffCore
package import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// Makes the ledger's asset tables again from the library alone, while no broker runs.
///
/// The new ledger is made beside the old one and put in its place at the end; until then a failure
/// changes nothing. Its key is new, so state tokens of the former ledger die with it.
package struct LibraryRebuild: Sendable {
  let configuration: Configuration
  let progress: CheckProgress
  let isVerifying: Bool
  /// Replace a ledger that is sound, and forget its handoffs.
  let isForced: Bool
  let logger: Logger

  private static let batch = 500

  package init(
    _ configuration: Configuration,
    progress: CheckProgress,
    isVerifying: Bool,
    isForced: Bool,
    logger: Logger
  ) {
    self.configuration = configuration
    self.progress = progress
    self.isVerifying = isVerifying
    self.isForced = isForced
    self.logger = logger
  }

  /// Rebuilds.
  ///
  /// - Throws: ``ServiceError`` while a broker runs; ``ControlError`` with `refused` for a ledger that is
  ///   sound, and with `unavailable` while the library is away.
  package func run() async throws -> RebuildReport {
    try await progress.failing { try await rebuild() }
  }

  private func rebuild() async throws -> RebuildReport {
    let state = StateFolder(configuration.broker.state)
    try Directory.createDurably(state.path, permissions: 0o700)
    let lock = try BrokerLock(state)
    defer { withExtendedLifetime(lock) {} }
    let library = try await LibraryCare.openLibrary(configuration, expecting: nil, logger)
    try await requireUnsound(state)
    var report = RebuildReport(rebuiltAt: SystemClock.now())
    let former = try await former(state, into: &report)
    let contents = try await library.contents()
    let named = Set(contents.assets.flatMap(\.renditions).map(\.digest))
    report.orphans = contents.orphans.count { !named.contains($0) }
    report.problems = contents.problems.map(\.description)
    let assets = try await judged(contents.assets, library, &report)
    let gone = try await withoutBytes(assets, library)
    let end = try await make(assets, gone: gone, after: former, state, library.id, &report)
    let exchange = LedgerExchange(state: state, library: library, files: Self.thread)
    report.formerLedger = try await exchange.run(end: end, at: report.rebuiltAt)?.lossyText
    progress.change { $0.state = .done }
    return report
  }

  // MARK: The former ledger

  private func requireUnsound(_ state: StateFolder) async throws {
    guard !isForced, try Ledger.hasTraces(in: state.path) else { return }
    let isSound: Bool
    do {
      try await Ledger.open(directory: state.path, logger: logger, now: SystemClock.now).close()
      isSound = true
    } catch {
      logger.info("The former ledger cannot be used", [.error: "\(error)"])
      isSound = false
    }
    guard !isSound else {
      throw ControlError(
        .refused,
        "the ledger is sound, and a rebuild would forget its handoffs; --force does it all the same"
      )
    }
  }

  /// What can still be read of it: the handoffs that had not ended, and the number after which new ones
  /// begin.
  ///
  /// Where nothing can be read, that is the count of minutes since 1970, which no ledger reaches.
  private func former(
    _ state: StateFolder,
    into report: inout RebuildReport
  ) async throws -> FormerHandoffs {
    let unreachable = report.rebuiltAt.milliseconds / 60_000
    do {
      let reader = try await Ledger.openForReading(directory: state.path)
      let last = try await reader.lastHandoffRow()
      let open = try await reader.handoffs().filter { !$0.status.isFinal }
      var former = FormerHandoffs(last: max(last, 0), open: open)
      for handoff in open {
        former.moments[handoff.id] = try await reader.publishMoment(of: handoff.id)
      }
      former.remains = await reader.remains(logger)
      try await reader.close()
      report.openHandoffs = open.map(HandoffReport.init)
      return former
    } catch {
      logger.info("Nothing can be read of the former ledger", [.error: "\(error)"])
      return FormerHandoffs(last: unreachable, open: [])
    }
  }

  // MARK: The new one

  /// The assets with the status that their objects give them.
  private func judged(
    _ assets: [Asset],
    _ library: AssetLibrary,
    _ report: inout RebuildReport
  ) async throws -> [Asset] {
    progress.change { change in
      change.objectsTotal = assets.count
      change.bytesTotal = isVerifying ? assets.reduce(0) { $0 + $1.size } : 0
    }
    let pace = ReadPace { [progress] in progress.read($0) }
    var judged: [Asset] = []
    for var asset in assets {
      if asset.status != .deleted {
        switch try await verification(of: asset, library, pace) {
        case .good: asset.status = .present
        case .missing: asset.status = .unavailable
        case .damaged: asset.status = .damaged
        }
      }
      asset.renditions = try await judgedRenditions(of: asset, library, pace)
      judged.append(asset)
      progress.change { $0.objects += 1 }
    }
    report.assets = judged.count
    report.deleted = judged.count { $0.status == .deleted }
    report.missing = judged.count { $0.status == .unavailable }
    report.damaged = judged.count { $0.status == .damaged }
    return judged
  }

  /// The renditions whose objects are there, with the status that these give them.
  ///
  /// A record may name one that a crash has kept from the ledger, and whose object was cleared since.
  private func judgedRenditions(
    of asset: Asset,
    _ library: AssetLibrary,
    _ pace: ReadPace
  ) async throws -> [Rendition] {
    var judged: [Rendition] = []
    for var rendition in asset.renditions {
      guard let glance = try await library.glance(at: rendition.digest) else { continue }
      var isGood = glance.isRegular && glance.size == rendition.size
      if isVerifying {
        isGood = try await library.reread(rendition.digest, at: pace)?.verification == .good
      }
      rendition.status = isGood ? .present : .damaged
      judged.append(rendition)
    }
    return judged
  }

  /// The deleted assets whose bytes are gone; those of the others are removed by the next broker.
  private func withoutBytes(
    _ assets: [Asset],
    _ library: AssetLibrary
  ) async throws -> [LocalIdentifier] {
    var gone: [LocalIdentifier] = []
    for asset in assets where asset.status == .deleted {
      if try await library.glance(at: asset.digest) == nil { gone.append(asset.localIdentifier) }
    }
    return gone
  }

  private func verification(
    of asset: Asset,
    _ library: AssetLibrary,
    _ pace: ReadPace
  ) async throws -> Verification {
    if isVerifying {
      return try await library.reread(asset.digest, at: pace)?.verification ?? .missing
    }
    guard let glance = try await library.glance(at: asset.digest) else { return .missing }
    return glance.isRegular && glance.size == asset.size ? .good : .damaged
  }

  /// - Returns: where the new ledger ends.
  private func make(
    _ assets: [Asset],
    gone: [LocalIdentifier],
    after former: FormerHandoffs,
    _ state: StateFolder,
    _ library: String?,
    _ report: inout RebuildReport
  ) async throws -> LedgerPosition {
    // What an interrupted rebuild has left.
    try Directory.removeTree(state.rebuilding)
    try Directory.create(state.rebuilding, permissions: 0o700)
    let ledger = try await Ledger.open(
      directory: state.rebuilding,
      logger: logger,
      now: SystemClock.now
    )
    for batch in assets.batches(of: Self.batch) { try await ledger.restore(Array(batch)) }
    for identifier in gone { _ = try await ledger.recordRemoval(of: identifier) }
    let sightings = assets.flatMap { asset in
      asset.sources.map { PastSighting(asset: asset.localIdentifier, sighting: $0) }
    }.sorted { $0.sighting.seenAt < $1.sighting.seenAt }
    report.sightings = sightings.count
    for batch in sightings.batches(of: Self.batch) { try await ledger.replay(Array(batch)) }
    let carried = try await ledger.carryOver(former.open, publishAt: former.moments)
    try await ledger.takeOver(former.remains)
    if carried < former.open.count {
      logger.warning(
        "Handoffs of the former ledger have no asset any more",
        [.count: String(former.open.count - carried)]
      )
    }
    try await ledger.beginHandoffs(after: former.last)
    try await ledger.setNote(.rebuilt, report.rebuiltAt)
    if let library { try await ledger.setLibraryID(library) }
    let end = try await ledger.position()
    try await ledger.close()
    return end
  }

  private static let thread = BlockingThread("rebuild")
}

/// What a rebuild takes over of the former ledger's handoffs.
private struct FormerHandoffs {
  /// The number after which new ones begin.
  let last: Int64
  /// Those that had not ended.
  let open: [Handoff]
  /// When their senders want them published.
  var moments: [Handoff.ID: Timestamp] = [:]
  var remains = LedgerRemains()
}
