import AssetLibrary
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Answers what is asked of the library's care.
struct CareQuestions: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let desk: CheckDesk
  let hold: HandoffHold
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// While a broker runs, so much time may pass between an object and its row in the ledger.
  static let safetyAge: Duration = .seconds(3600)

  func answer(_ method: ControlMethod, _ parameters: JSONValue?) async throws -> JSONValue {
    switch method {
    case .fsck:
      try WireCoder.value(
        try await check(WireCoder.document(CheckParameters.self, from: parameters))
      )
    case .fsckProgress:
      try WireCoder.value(
        try await next(WireCoder.document(CheckProgressParameters.self, from: parameters))
      )
    case .fsckStop:
      try WireCoder.value(try end())
    case .gc:
      try WireCoder.value(
        try await clear(WireCoder.document(ClearingParameters.self, from: parameters))
      )
    case .resumeHandoffs:
      try WireCoder.value(try await resume())
    case .status, .why, .importFile, .send, .dryRun, .wait, .cancel, .retry, .retryFailed,
      .retryFile, .adopt, .allow, .result, .delete, .resume, .reload, .pause, .approve, .standings,
      .destinations, .destinationChecks, .verify:
      throw ControlError(.failed, "\(method.rawValue) is not a question about the library's care")
    }
  }

  /// How the library stands, with the ledger's counts as they are now.
  func libraryReport(_ counts: LedgerCounts) async throws -> LibraryReport {
    var report = LibraryReport(library.path, isAvailable: await library.isAvailable())
    let outlook = try await ledger.verificationOutlook()
    report.assets = outlook.totals.count
    report.bytes = outlook.totals.bytes
    report.damaged = counts.assets[.damaged] ?? 0
    report.missing = counts.assets[.unavailable] ?? 0
    report.lastVerifiedAt = outlook.newest
    report.allVerifiedSince = outlook.oldest
    report.checkedAt = try await ledger.note(.checkEnded)
    report.handoffsHeldBefore = hold.before
    return report
  }

  /// So many orders that are held are listed; the count tells whether there are more.
  private static let heldAtOnce = 1_000

  func heldOrders() async throws -> [HeldOrderReport] {
    try await ledger.heldOrders(limit: Self.heldAtOnce).map(HeldOrderReport.init)
  }

  /// Why an asset has no handoffs by itself after a rebuild; nil where that is not why.
  func reasonToHold(_ identifier: LocalIdentifier) async throws -> String? {
    if try await ledger.isHeld(identifier) { return HandoffHold.heldReason }
    guard let asset = try await ledger.asset(identifier), hold.countsAsHandedOff(asset),
      try await ledger.handoffs(ofAsset: identifier).isEmpty
    else { return nil }
    return HandoffHold.handedOffReason
  }

  private func check(_ parameters: CheckParameters) async throws -> CheckReport {
    try await requireLibrary()
    if let identifier = parameters.localIdentifier {
      guard let known = try await ledger.objectKnowledge(of: identifier) else {
        throw ControlError(.notFound, "there is no asset \(identifier)")
      }
      guard known.status != .deleted else {
        throw ControlError(.notFound, "\(identifier): the asset was deleted")
      }
    }
    return try desk.start(parameters)
  }

  private func next(_ parameters: CheckProgressParameters) async throws -> CheckReport {
    guard let progress = desk.progress else { throw Self.noCheck }
    return await progress.next(after: parameters.after)
  }

  private func end() throws -> CheckReport {
    guard let progress = desk.progress, progress.report.state == .running else {
      throw Self.noCheck
    }
    desk.end()
    return progress.report
  }

  private func clear(_ parameters: ClearingParameters) async throws -> ClearingReport {
    try await requireLibrary()
    guard parameters.olderThanMilliseconds >= Self.safetyAge.wholeMilliseconds else {
      throw ControlError(
        .refused,
        "while the broker runs, what is younger than an hour may belong to an import"
      )
    }
    return try await LibraryClearing(library: library, ledger: ledger, now: now, logger: logger)
      .run(parameters)
  }

  private func resume() async throws -> LibraryReport {
    let made = try await ledger.resumeHandoffs()
    hold.lift()
    logger.notice(
      "Made the handoffs that were held since the ledger was made again",
      [.detail: "\(made.count) handoffs"]
    )
    return try await libraryReport(ledger.counts())
  }

  private func requireLibrary() async throws {
    if let absence = await library.absence() { throw Self.libraryAway(absence) }
  }

  private static let noCheck = ControlError(.notFound, "no check of the library runs")

  static func libraryAway(_ absence: LibraryError) -> ControlError {
    ControlError(.unavailable, "\(absence.description); nothing was changed")
  }
}
