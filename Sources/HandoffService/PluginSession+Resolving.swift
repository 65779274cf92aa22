import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Where a plugin may read what it was handed: the ledger is asked each time.
extension PluginSession {
  @Sendable
  func resolve(
    _ parameters: ResolveParameters
  ) async throws(RPCMessage.Failure) -> ResolvedAsset {
    let identifier = parameters.localIdentifier
    let (handoff, entry) = try await openHandoff(of: parameters.state, identifier)
    let asset = try ready(await answered { try await parts.delivery.check(identifier, handoff) })
    guard let granted = entry.assets.first(where: { $0.asset.localIdentifier == identifier })
    else { return try await grantAnew(identifier, handoff) }
    return ResolvedAsset(granted, current: asset)
  }

  /// The open handoff of a token, with the attempt that runs, if the asset is one of its own.
  func openHandoff(
    of state: StateToken,
    _ identifier: LocalIdentifier
  ) async throws(RPCMessage.Failure) -> (Handoff, InFlight) {
    let handoff = try await answered { try await parts.ledger.handoff(of: state) }
    if let refusal = refusal(of: handoff) { throw .refused(refusal) }
    guard let handoff, let entry = held.entry(of: state) else {
      throw .refused(Self.error(.expired, "no attempt of this handoff runs now", identifier))
    }
    entry.giveSign()
    guard handoff.localIdentifiers.contains(identifier) else {
      let message = "the asset is not part of this handoff"
      throw .refused(Self.error(.accessLimited, message, identifier))
    }
    return (handoff, entry)
  }

  /// None were granted when the plugin started: perhaps they can be now.
  private func grantAnew(
    _ identifier: LocalIdentifier,
    _ handoff: Handoff
  ) async throws(RPCMessage.Failure) -> ResolvedAsset {
    let assets = try ready(
      await answered {
        try await parts.delivery.prepare(handoff, constraints: Constraints())
      }
    )
    // It may have ended in between, and its grants with it.
    let now = try await answered { try await parts.ledger.handoff(handoff.id) }
    if let refusal = refusal(of: now) {
      await parts.results.endGrants(of: handoff)
      throw .refused(refusal)
    }
    guard let granted = assets.first(where: { $0.asset.localIdentifier == identifier }) else {
      throw .refused(Self.error(.assetMissing, "there is no such asset", identifier))
    }
    return ResolvedAsset(granted, current: granted.asset)
  }

  /// Why a token gives no access now; nil where it does.
  private func refusal(of handoff: Handoff?) -> ResultError? {
    guard let handoff else {
      return ResultError(.unknownState, "no handoff has this state token", effect: .none)
    }
    guard handoff.destination == settings.name else {
      let message = "the state token belongs to another destination"
      return ResultError(.wrongDestination, message, effect: .none)
    }
    guard !handoff.status.isFinal else {
      let message = "the handoff has ended: it is \(handoff.status.rawValue)"
      return ResultError(.expired, message, effect: .none)
    }
    return nil
  }

  private func ready<Value>(
    _ outcome: DeliveryPreparation.Outcome<Value>
  ) throws(RPCMessage.Failure) -> [Value] {
    switch outcome {
    case .ready(let values): return values
    case .refuse(let error): throw .refused(error)
    case .wait(let waiting) where waiting.reason == .libraryUnavailable:
      throw .refused(
        ResultError(.libraryUnavailable, "the library is away", effect: .none, retry: .later)
      )
    case .wait: throw Self.notNow
    }
  }

  private func ready(
    _ outcome: DeliveryPreparation.Outcome<Asset>
  ) throws(RPCMessage.Failure) -> Asset {
    let assets: [Asset] = try ready(outcome)
    guard let asset = assets.first else { throw Self.notNow }
    return asset
  }

  private func answered<Value>(
    _ ask: () async throws -> Value
  ) async throws(RPCMessage.Failure) -> Value {
    do {
      return try await ask()
    } catch {
      parts.logger.error(
        "An asset could not be resolved",
        [.destination: settings.name.text, .error: "\(error)"]
      )
      throw Self.notNow
    }
  }

  static let notNow = RPCMessage.Failure(
    code: -32_002,
    message: "not to be told now; ask again later"
  )

  private static func error(
    _ code: ErrorCode,
    _ message: String,
    _ identifier: LocalIdentifier
  ) -> ResultError {
    ResultError(code, message, effect: .none, localIdentifier: identifier)
  }
}
