import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What comes from the plugin.
extension PluginSession {
  var callbacks: PluginCallbacks {
    var callbacks = PluginCallbacks()
    callbacks.onResolve = resolve
    callbacks.onResult = takeResult
    callbacks.onMalformed = takeMalformed
    callbacks.onProgress = { progress in held.entry(of: progress.state)?.giveSign() }
    return callbacks
  }

  @Sendable
  private func resolve(
    _ parameters: ResolveParameters
  ) async throws(RPCMessage.Failure) -> ResolvedAsset {
    guard let entry = held.entry(of: parameters.state) else {
      throw .refused(
        ResultError(.expired, "no handoff of this destination has this token now", effect: .none)
      )
    }
    entry.giveSign()
    let current = try await current(parameters.localIdentifier, of: entry)
    // None where they could not be granted when the plugin started: perhaps they can be now.
    let assets = entry.assets.isEmpty ? await grantAgain(entry.claimed.handoff) : entry.assets
    let identifier = parameters.localIdentifier
    guard let granted = assets.first(where: { $0.asset.localIdentifier == identifier }) else {
      throw .refused(
        ResultError(
          .accessLimited,
          "the asset is not part of this handoff, or not to be had now",
          effect: .none,
          localIdentifier: identifier
        )
      )
    }
    return ResolvedAsset(granted, current: current)
  }

  /// The asset as it is at this moment; refused where it is not part of the handoff or not to be had.
  private func current(
    _ identifier: LocalIdentifier,
    of entry: InFlight
  ) async throws(RPCMessage.Failure) -> Asset {
    let asset: Asset?
    do {
      asset = try await parts.ledger.asset(identifier)
    } catch {
      logFailure(entry.id, error)
      throw RPCMessage.Failure(code: -32_002, message: "not to be told now; ask again later")
    }
    let isPart = entry.claimed.handoff.localIdentifiers.contains(identifier)
    let standing = isPart ? asset.standing : .foreign
    if let refusal = standing.refusal(of: identifier) { throw .refused(refusal) }
    guard let asset else { throw .invalidParameters("there is no such asset") }
    return asset
  }

  @Sendable
  private func takeResult(_ result: HandoffResult) async throws(RPCMessage.Failure) {
    let entry = held.entry(of: result.state)
    if let entry, let fault = result.violation(ofVersion: entry.request.protocolVersion) {
      await takeMalformed(result.state, fault)
      throw .refused(ResultError(fault.code, fault.message, effect: .unknown))
    }
    do {
      try await parts.results.take(result, from: settings)
      entry?.end()
    } catch let error as ResultError {
      // What comes too late ends the work on it all the same.
      if Self.saysItIsOver(error) { entry?.end() }
      throw .refused(error)
    } catch {
      // Not recorded: the receiver keeps it and sends it again.
      parts.logger.error(
        "A result could not be recorded",
        [.destination: settings.name.text, .error: "\(error)"]
      )
      throw RPCMessage.Failure(code: -32_002, message: "not recorded; send it again later")
    }
  }

  @Sendable
  private func takeMalformed(_ state: StateToken?, _ error: ProtocolError) async {
    guard let state, let entry = held.entry(of: state) else { return }
    do {
      try await parts.results.fail(
        entry.id,
        ResultError(.malformedResult, error.message, effect: .unknown),
        side: .receiver,
        retry: nil
      )
      entry.end()
    } catch {
      logFailure(entry.id, error)
    }
  }
}
