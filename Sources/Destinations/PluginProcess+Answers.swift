import HandoffCore
import HandoffLog
import HandoffProtocol

/// Plugin to broker.
extension PluginProcess {
  /// Takes progress in the order in which it was told: the last word counts.
  func answerInOrder(
    _ method: String,
    _ params: JSONValue?
  ) -> Result<JSONValue, RPCMessage.Failure>? {
    guard MessageMethod(rawValue: method) == .progress else { return nil }
    do throws(RPCMessage.Failure) {
      var progress = try decode(ProgressParameters.self, params)
      progress.needsUser = progress.needsUser.map { shown($0) }
      callbacks.onProgress(progress)
      return .success(.object([:]))
    } catch {
      return .failure(error)
    }
  }

  func answer(
    _ method: String,
    _ params: JSONValue?
  ) async throws(RPCMessage.Failure) -> JSONValue {
    switch MessageMethod(rawValue: method) {
    case .resolveAsset:
      let asset = try await callbacks.onResolve(try decode(ResolveParameters.self, params))
      return try encode(asset)
    case .registerAsset:
      return try encode(try await callbacks.onRegister(try decode(RegisterParameters.self, params)))
    case .result:
      return try await record(params)
    case .log:
      log(try decode(LogParameters.self, params))
      return .object([:])
    // Progress is taken in its order, before it would come here.
    case .progress, .discover, .status, .preflight, .submit, .probe, .cancel,
      .reconcile, .verify, .stopVerifying, .shutdown, nil:
      throw .unsupported(method)
    }
  }

  private func record(_ params: JSONValue?) async throws(RPCMessage.Failure) -> JSONValue {
    var result: HandoffResult
    do {
      let size = try params.map { try WireCoder.encode($0).count } ?? 0
      guard size <= HandoffResult.maximumSize else {
        throw ProtocolError(
          .malformedResult,
          "\(size) bytes, more than \(HandoffResult.maximumSize)"
        )
      }
      // Redacted first: the error about a malformed result may quote it.
      result = try WireCoder.document(
        HandoffResult.self,
        from: params.map { redaction.redactedResult($0) }
      )
    } catch {
      let reason = (error as? ProtocolError)?.message ?? "not a result"
      let problem = ProtocolError(.malformedResult, reason)
      await callbacks.onMalformed(params?["state"]?.text.flatMap { StateToken($0) }, problem)
      throw .refused(ResultError(.malformedResult, reason, effect: .unknown))
    }
    if case .failure(let error) = result.outcome { result.outcome = .failure(explained(error)) }
    try await callbacks.onResult(result)
    return .object([:])
  }

  private func log(_ parameters: LogParameters) {
    let level: LogRecord.Level
    switch parameters.level {
    // A transition of a handoff is the broker's to log, so a plugin's notice is information.
    case "error", "warning": level = .warning
    case "notice", "info": level = .info
    default: level = .debug
    }
    // Cut after redaction: a token that lies across the cut would not be known.
    let words = String(redaction.redacted(parameters.message).prefix(1000))
    guard let omitted = said.take(words.utf8.count, now: .now) else { return }
    var fields: [LogKey: String] = [.destination: settings.name.text, .detail: words]
    if omitted > 0 { fields[.reason] = "\(omitted) lines before this one were left out" }
    launch.host.logger.log(level, "The plugin says", fields)
  }

  /// A receiver's words, fit for the ledger: cut after redaction, for half a token is not known for one.
  func shown(_ text: String) -> String { String(redaction.redacted(text).prefix(300)) }

  private func decode<Document: Decodable>(
    _ type: Document.Type,
    _ params: JSONValue?
  ) throws(RPCMessage.Failure) -> Document {
    do {
      return try WireCoder.document(type, from: params)
    } catch {
      let reason = "\((error as? ProtocolError)?.message ?? "\(error)")"
      var failure = RPCMessage.Failure.invalidParameters(reason)
      failure.data = ResultError(.malformedRequest, reason, effect: .none)
      throw failure
    }
  }

  private func encode(_ document: some Encodable) throws(RPCMessage.Failure) -> JSONValue {
    do {
      return try WireCoder.value(document)
    } catch {
      throw RPCMessage.Failure(code: -32_603, message: "the answer cannot be written")
    }
  }
}
