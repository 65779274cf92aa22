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
    callbacks.onRegister = register
    callbacks.onResult = takeResult
    callbacks.onMalformed = takeMalformed
    callbacks.onProgress = takeProgress
    return callbacks
  }

  /// Only says what is to be recorded: ``keepNeed(of:)`` records it.
  @Sendable
  private func takeProgress(_ progress: ProgressParameters) {
    held.entry(of: progress.state)?.tell(need: progress.needsUser)
  }

  @Sendable
  private func takeResult(_ result: HandoffResult) async throws(RPCMessage.Failure) {
    let entry = held.entry(of: result.state)
    if let entry, let fault = result.violation(ofVersion: entry.request.protocolVersion) {
      await takeMalformed(result.state, fault)
      throw .refused(ResultError(fault.code, fault.message, effect: .unknown))
    }
    do {
      // The receiver is answered once it is recorded; until then it is kept here, and tried again.
      try await LastingWrite(stop: parts.claims.stop, logger: parts.logger).run(
        "A result waits for the ledger",
        [.destination: settings.name.text]
      ) { try await parts.results.take(result, from: settings) }
      entry?.end()
    } catch let error as ResultError {
      // What comes too late ends the work on it all the same.
      if Self.saysItIsOver(error) { entry?.end() }
      throw .refused(error)
    } catch {
      // Not recorded, and the service stops: the receiver keeps it, and is asked at the next start.
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
