import AssetLibrary
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Reads every object again and compares it with its name, and the library's names with the ledger.
///
/// Each reading is recorded at once, so an interrupted check is gone on with: the ledger keeps when the
/// check began, and what was read since is not read again. While the library's mount is away it fails
/// and records nothing.
struct LibraryCheck: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let progress: CheckProgress
  let pace: ReadPace
  /// What changed within this time may belong to an import that runs.
  let settled: Duration
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Assets that are asked of the ledger at once.
  private static let batch = 200

  func run(_ parameters: CheckParameters) async throws {
    if let absence = await library.absence() { throw absence }
    if let identifier = parameters.localIdentifier {
      try await checkOne(identifier)
    } else {
      try await checkAll(restart: parameters.restart)
    }
    progress.change { $0.state = pace.isStopped ? .stopped : .done }
  }

  private func checkOne(_ identifier: LocalIdentifier) async throws {
    guard let known = try await ledger.objectKnowledge(of: identifier) else {
      throw LedgerError.unknownAsset(identifier)
    }
    progress.change { report in
      report.objectsTotal = 1
      report.bytesTotal = known.size
    }
    _ = try await read(known)
  }

  private func checkAll(restart: Bool) async throws {
    let began = try await begin(restart: restart)
    let orphans = try await LibrarySurvey(
      library: library,
      ledger: ledger,
      progress: progress,
      changedBefore: now().advanced(by: .zero - settled)
    )
    .run()
    progress.change { report in
      report.objectsTotal += orphans.count
      report.bytesTotal += orphans.reduce(0) { $0 + $1.size }
    }
    try await readAssets(since: began)
    for orphan in orphans where !pace.isStopped { try await read(orphan) }
    guard !pace.isStopped else { return }
    try await ledger.setNote(.checkBegan, nil)
    try await ledger.setNote(.checkEnded, now())
  }

  /// The moment since which what was read counts: that of the interrupted check, or now.
  private func begin(restart: Bool) async throws -> Timestamp {
    let interrupted = restart ? nil : try await ledger.note(.checkBegan)
    let began = interrupted ?? now()
    if interrupted == nil { try await ledger.setNote(.checkBegan, began) }
    let totals = try await ledger.verificationOutlook().totals
    let left = try await ledger.unreadTotals(since: began)
    let renditions = try await ledger.renditionTotals()
    progress.change { report in
      report.resumed = interrupted != nil
      (report.objectsTotal, report.bytesTotal) = (totals.count, totals.bytes + renditions.bytes)
      report.objects = totals.count - left.count
      report.bytes = totals.bytes - left.bytes
    }
    guard interrupted != nil else { return began }
    for (status, kind) in [
      (Asset.Status.damaged, CheckReport.Finding.Kind.damaged), (.unavailable, .missing),
    ] {
      for known in try await ledger.objects(with: status)
      where known.verifiedAt.map({ $0 >= began }) ?? false {
        progress.found(finding(kind, known))
      }
    }
    return began
  }

  private func readAssets(since began: Timestamp) async throws {
    // A clock that was set back must not make the check go round.
    var seen: Set<LocalIdentifier> = []
    while !pace.isStopped {
      let batch = try await ledger.unread(since: began, limit: Self.batch)
        .filter { seen.insert($0.localIdentifier).inserted }
      guard !batch.isEmpty else { return }
      for known in batch {
        guard try await read(known) else { return }
      }
    }
  }

  /// False where the pace was stopped first.
  private func read(_ known: ObjectKnowledge) async throws -> Bool {
    let reader = ObjectReader(library: library, ledger: ledger, logger: logger)
    guard let reading = try await reader.read(known, at: pace) else { return false }
    switch reading.verification {
    case .good: break
    case .damaged: progress.found(finding(.damaged, known))
    case .missing: progress.found(finding(.missing, known))
    }
    if reading.wasMended { progress.found(finding(.permissions, known, mended: true)) }
    for (rendition, reading) in try await reader.readRenditions(of: known.localIdentifier, at: pace)
    {
      let path = library.objectPath(of: rendition.digest)
      switch reading.verification {
      case .good: break
      case .damaged: progress.found(.init(.damaged, path, known.localIdentifier))
      case .missing: progress.found(.init(.missing, path, known.localIdentifier))
      }
      if reading.wasMended {
        progress.found(.init(.permissions, path, known.localIdentifier, mended: true))
      }
    }
    progress.change { $0.objects += 1 }
    return true
  }

  private func read(_ orphan: LibraryCensus.Object) async throws {
    guard let reading = try await library.reread(orphan.digest, at: pace) else { return }
    if reading.verification == .damaged { progress.found(.init(.damaged, orphan.path)) }
    if reading.wasMended { progress.found(.init(.permissions, orphan.path, mended: true)) }
    progress.change { $0.objects += 1 }
  }

  private func finding(
    _ kind: CheckReport.Finding.Kind,
    _ known: ObjectKnowledge,
    mended: Bool = false
  ) -> CheckReport.Finding {
    let path = library.objectPath(of: known.digest)
    return CheckReport.Finding(kind, path, known.localIdentifier, mended: mended)
  }
}
