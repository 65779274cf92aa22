import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What happens first at each start: claims of the broker before this one are given back, and what it
/// had submitted is sorted into what a receiver can be asked about and what only a person can decide.
struct RecoveryStage: Sendable {
  let ledger: Ledger
  let library: AssetLibrary
  let results: ResultStage
  let originals: OriginalStage
  let destinations: [DestinationName: DestinationSettings]
  let logger: Logger

  func run() async throws {
    let inFlight = try await ledger.recoverAtStart()
    var open: [DestinationName: Set<String>] = [:]
    for claimed in inFlight {
      let handoff = claimed.handoff
      guard canGoOn(handoff) else {
        try await results.fail(handoff.id, Self.interrupted, side: .broker, retry: nil)
        continue
      }
      open[handoff.destination, default: []].insert(handoff.id.description)
    }
    // While the library is away they cannot be used, and `handoff gc` ends them later.
    if await library.isAvailable() { try await library.sweepGrants(keeping: open) }
    try await originals.forgetChangedFolders()
    logger.info("Recovered what was open", [.count: String(inFlight.count)])
  }

  /// A plugin is asked by `reconcile` once it runs, and a `file` stage looks into its inbox; the result of
  /// a `url` handoff comes by itself once it was opened. An `exec` receiver has nobody left to ask, and a
  /// destination that is no longer configured neither.
  private func canGoOn(_ handoff: Handoff) -> Bool {
    switch destinations[handoff.destination]?.transport {
    case .plugin, .file: true
    case .url: handoff.status == .accepted
    case .exec, .http, nil: false
    }
  }

  private static let interrupted = ResultError(
    .interrupted,
    "the broker ended while the receiver was at work",
    effect: .unknown,
    remedy: "look at the destination, then `handoff adopt`, `retry` or `cancel`"
  )
}
