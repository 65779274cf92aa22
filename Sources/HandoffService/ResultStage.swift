import AssetLibrary
import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Takes results from receivers and from the broker itself into the ledger, once, and does what follows
/// from the end of a handoff: grants end, receipts and originals are looked after, waiters are told.
struct ResultStage: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let originals: OriginalStage
  let receipts: ReceiptStage
  let changes: ChangeBroadcast
  let logger: Logger

  /// Takes a result that came from a destination.
  ///
  /// - Throws: what the receiver is told: `already_consumed`, `unknown_state`, `wrong_destination` or
  ///   `expired`; or the ledger's error, after which the receiver may send the result again.
  func take(_ result: HandoffResult, from settings: DestinationSettings) async throws {
    try await noting(settings.name) { try await takeQuietly(result, from: settings) }
  }

  /// The same for who counts the refusals itself: anybody can bring any number of them.
  ///
  /// - Parameters:
  ///   - result: what came.
  ///   - settings: of the destination.
  ///   - attempt: the attempt that ended so, where its own end was observed.
  /// - Throws: as ``take(_:from:)``.
  func takeQuietly(
    _ result: HandoffResult,
    from settings: DestinationSettings,
    attempt: Int? = nil
  ) async throws {
    let consumption = try await ledger.consume(
      TokenRedaction.redactedResult(result),
      from: settings.name,
      retry: settings.retry,
      jitter: Double.random(in: 0...1),
      attempt: attempt
    )
    _ = try await settle(consumption, foreign: "the state token belongs to another destination")
  }

  /// Takes a result that was signed with a secret that some destinations have: it is that of the handoff's
  /// own destination, if this is among them.
  ///
  /// What it says is mended by its sender where it is of another version than its request: then nothing
  /// has changed.
  ///
  /// - Throws: as ``take(_:from:)``, and `malformed_result`.
  func takeSigned(_ result: HandoffResult, from signers: [DestinationSettings]) async throws {
    let handoff = try await ledger.handoff(of: result.state)
    let own = signers.first { $0.name == handoff?.destination }
    guard let settings = own ?? signers.first else {
      throw Self.refusal(.destinationUnknown, "it is not configured")
    }
    guard own != nil, let handoff else { return try await takeQuietly(result, from: settings) }
    try await checkVersion(of: result)
    // A receiver that quotes what it was sent may quote this too.
    let grant = try await ledger.grant(of: handoff.id)
    try await takeQuietly(TokenRedaction.redactedResult(result, grant: grant), from: settings)
  }

  /// - Throws: `malformed_result` for a result of another version than its request.
  private func checkVersion(of result: HandoffResult) async throws {
    guard let version = try await ledger.version(ofRequestWith: result.state),
      let violation = result.violation(ofVersion: version)
    else { return }
    throw Self.refusal(violation.code, violation.message)
  }

  /// Takes a result that came by itself, for the handoffs of some destinations.
  ///
  /// For a handoff of a destination that is not configured any more it is kept, for a person to adopt.
  ///
  /// - Parameters:
  ///   - result: from wherever.
  ///   - destinations: whose results come by themselves.
  ///   - configured: all that there are.
  /// - Returns: the handoff as it is now.
  /// - Throws: as ``take(_:from:)``.
  func takeUnverified(
    _ result: HandoffResult,
    of destinations: [DestinationSettings],
    among configured: Set<DestinationName>
  ) async throws -> Handoff {
    let policies = Dictionary(destinations.map { ($0.name, $0.retry) }) { first, _ in first }
    return try await noting(nil) {
      try await checkVersion(of: result)
      let consumption = try await ledger.consumeUnverified(
        TokenRedaction.redactedResult(result),
        of: policies,
        configured: configured,
        jitter: Double.random(in: 0...1)
      )
      return try await settle(
        consumption,
        foreign: "this destination's results do not come by themselves"
      )
    }
  }

  /// What follows from a result that counted; throws what its sender is told of one that did not.
  private func settle(_ consumption: Consumption, foreign: String) async throws -> Handoff {
    switch consumption {
    case .applied(let handoff), .retried(let handoff, _):
      await follow(handoff)
      return handoff
    case .alreadyConsumed: throw Self.refusal(.alreadyConsumed, "this state token was used")
    case .unknownState: throw Self.refusal(.unknownState, "no handoff has this state token")
    case .wrongDestination: throw Self.refusal(.wrongDestination, foreign)
    case .late(let handoff) where handoff.status.isFinal:
      throw Self.refusal(.expired, "the handoff had ended; the result is kept as late")
    case .late(let handoff) where handoff.error?.code == .malformedResult:
      throw Self.refusal(.alreadyConsumed, "the result before broke the protocol; this one is kept")
    case .late(let handoff):
      changes.changed(handoff.id)
      throw Self.refusal(
        .destinationUnknown,
        "\(handoff.destination) is not configured any more; the result is kept as late, and "
          + "`handoff adopt \(handoff.id)` takes a success"
      )
    case .malformed(let fault): throw Self.refusal(.malformedResult, fault)
    case .pastAttempt: throw Self.refusal(.alreadyConsumed, "the attempt had its end before")
    }
  }

  private func noting<Value>(
    _ destination: DestinationName?,
    _ work: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await work()
    } catch let error as ResultError {
      var fields: [LogKey: String] = [.errorCode: error.code.text, .detail: error.message]
      fields[.destination] = destination?.text
      // A receiver that sends garbage fills neither the log nor the disk that it is on.
      let sender = destination?.text ?? "nobody"
      logger.warning(
        "A result was refused",
        fields,
        cause: "results of \(sender) refused as \(error.code.text)"
      )
      throw error
    }
  }

  /// Records that a claimed handoff is about to be sent, in a version of the protocol.
  ///
  /// - Returns: false where it has ended since it was claimed, or was given back because it may not be
  ///   sent now: then it is not to be sent, and what was granted for it has ended too.
  /// - Throws: as ``Ledger/recordSubmission(_:leaseID:ceiling:)``.
  func recordSubmission(
    _ claimed: ClaimedHandoff,
    ceiling: Timestamp,
    version: Int = HandoffRequest.currentVersion,
    given: [Asset] = []
  ) async throws -> Bool {
    let id = claimed.handoff.id
    do {
      let isSubmitted = try await ledger.recordSubmission(
        id,
        leaseID: claimed.leaseID,
        ceiling: ceiling,
        version: version,
        given: given
      )
      if !isSubmitted { await endGrants(of: claimed.handoff) }
      return isSubmitted
    } catch LedgerError.leaseLost {
      guard let current = try await ledger.handoff(id), current.status.isFinal else {
        throw LedgerError.leaseLost(id)
      }
      await endGrants(of: current)
      return false
    }
  }

  /// Records a failure that the broker itself found; where it is one attempt's, with its number.
  func fail(
    _ id: Handoff.ID,
    _ error: ResultError,
    side: Handoff.Side,
    retry: RetryPolicy?,
    attempt: Int? = nil,
    endsWish: Bool = false
  ) async throws {
    let consumption = try await ledger.recordBrokerFailure(
      id,
      error,
      side: side,
      retry: retry,
      jitter: Double.random(in: 0...1),
      attempt: attempt,
      endsWish: endsWish
    )
    switch consumption {
    case .applied(let handoff), .retried(let handoff, _): await follow(handoff)
    // A result came first: it counts, and this failure was none.
    case .alreadyConsumed, .unknownState, .wrongDestination, .late, .malformed: break
    case .pastAttempt:
      logger.info(
        "An attempt failed after its end",
        [.handoffID: id.description, .errorCode: error.code.text, .detail: error.message]
      )
    }
  }

  /// Records what a receiver said that it knows of a handoff, and its result where it has one.
  ///
  /// A finished one without its own result is malformed: what it left behind is not known.
  ///
  /// - Throws: as ``take(_:from:)`` and ``fail(_:_:side:retry:)`` do.
  func learn(
    _ knowledge: HandoffKnowledge,
    of claimed: ClaimedHandoff,
    from settings: DestinationSettings
  ) async throws {
    let id = claimed.handoff.id
    guard knowledge.standing == .finished else {
      let standing = knowledge.standing
      return await follow(
        try await ledger.recordKnowledge(id, standing, need: knowledge.message)
      )
    }
    if let result = knowledge.result, result.state.matches(claimed.request.state) {
      return try await take(result, from: settings)
    }
    let error = ResultError(
      .malformedResult,
      knowledge.result == nil
        ? "the receiver calls it finished and gives no result"
        : "the receiver calls it finished and gives the result of another handoff",
      effect: .unknown
    )
    try await fail(id, error, side: .receiver, retry: nil)
  }

  /// What follows from a handoff's new status.
  ///
  /// The ledger has it already: nothing here can undo it.
  func follow(_ handoff: Handoff) async {
    var fields: [LogKey: String] = [
      .handoffID: handoff.id.description, .destination: handoff.destination.text,
      .status: handoff.status.rawValue,
    ]
    if let error = handoff.error {
      fields[.errorCode] = error.code.text
      fields[.detail] = error.message
    }
    logger.notice("A handoff moved on", fields)
    if !handoff.status.isInFlight, handoff.status != .outcomeUnknown {
      await endGrants(of: handoff)
    }
    if handoff.status.isFinal { await originals.ended(handoff) }
    await receipts.write(for: handoff)
    changes.changed(handoff.id)
  }

  /// Takes the paths away that a handoff's receiver was granted; what it has open stays readable.
  func endGrants(of handoff: Handoff) async {
    do {
      try await library.endGrants(
        destination: handoff.destination,
        handoff: handoff.id.description
      )
    } catch {
      logger.warning(
        "The grants of a handoff are still there",
        [.handoffID: handoff.id.description, .error: "\(error)"]
      )
    }
  }

  private static func refusal(_ code: ErrorCode, _ message: String) -> ResultError {
    ResultError(code, message, effect: .none)
  }
}
