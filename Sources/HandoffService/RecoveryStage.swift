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
  let settings: SettingsInForce
  let logger: Logger

  func run() async throws {
    let inFlight = try await ledger.recoverAtStart()
    let open = try await sort(inFlight)
    // While the library is away they cannot be used, and `handoff gc` ends them later.
    if await library.isAvailable() { try await library.sweepGrants(keeping: open) }
    try await originals.forgetChangedFolders()
    logger.info("Recovered what was open", [.count: String(inFlight.count)])
  }

  /// The same for one destination whose stage has ended while the others go on.
  func run(_ destination: DestinationName) async throws {
    _ = try await sort(ledger.recover(destination))
  }

  /// Ends what cannot have an end by itself any more; returns what may, by destination.
  private func sort(
    _ inFlight: [ClaimedHandoff]
  ) async throws -> [DestinationName: Set<String>] {
    let destinations = settings.now.destinations
    var open: [DestinationName: Set<String>] = [:]
    for claimed in inFlight {
      let handoff = claimed.handoff
      guard canGoOn(handoff, destinations[handoff.destination]) else {
        let retry = destinations[handoff.destination]?.retry
        let error =
          retry.map { Self.interrupted(mayRepeat: $0.repeatsUnknown) } ?? Self.notConfigured
        try await results.fail(handoff.id, error, side: .broker, retry: retry)
        continue
      }
      open[handoff.destination, default: []].insert(handoff.id.description)
    }
    return open
  }

  /// Whether an attempt that a former broker made may still have its end.
  ///
  /// A plugin is asked by `reconcile` once it runs, a `file` stage looks into its inbox, and an `http`
  /// receiver that has taken the request may still send its result; that of a `url` handoff comes by itself once it was opened. An
  /// `exec` receiver has nobody left to ask, and a destination that is no longer configured neither.
  private func canGoOn(_ handoff: Handoff, _ settings: DestinationSettings?) -> Bool {
    guard let settings else { return false }
    switch settings.transport {
    case .plugin, .file: return true
    case .http:
      // A request that perhaps never left is waited for by nobody; a result that comes still counts.
      return settings.answer == .callback && handoff.status != .submitted
    case .url: return handoff.status == .accepted
    case .exec: return false
    }
  }

  private static let notConfigured = ResultError(
    .destinationUnknown,
    "its destination is not configured any more",
    effect: .unknown,
    remedy: "configure it again; or look at the destination, then `handoff adopt` or `cancel`"
  )

  private static func interrupted(mayRepeat: Bool) -> ResultError {
    ResultError(
      .interrupted,
      "the broker ended while the receiver was at work",
      effect: .unknown,
      retry: mayRepeat ? .later : .never,
      remedy: "look at the destination, then `handoff adopt`, `retry` or `cancel`"
    )
  }
}
