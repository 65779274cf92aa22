import HandoffCore
import HandoffLog
package import HandoffProtocol
import HandoffWire

/// Broker to plugin.
extension PluginProcess {
  /// Hands a request over.
  ///
  /// Throws ``ResultError``, whose effect says whether the plugin may have taken it, or
  /// `CancellationError`, after which it may have. A plugin that says no is an answer, not an error.
  package func submit(_ parameters: SubmitParameters) async throws -> SubmitAnswer {
    let (peer, introduction) = try await readyConnection()
    guard introduction.agreement.version == parameters.request.protocolVersion else {
      throw ResultError(
        .versionIncompatible,
        "the request is of version \(parameters.request.protocolVersion), not "
          + "\(introduction.agreement.version): \(introduction.agreement.sides)",
        effect: .none
      )
    }
    redaction.add(parameters.request.state)
    do {
      let answer = try await call(peer, .submit, parameters)
      return try WireCoder.document(SubmitAnswer.self, from: redaction.redacted(answer))
    } catch let failure as RPCMessage.Failure {
      // Answered with an error: the receiver has refused, and says itself what it left behind.
      return SubmitAnswer(accepted: false, error: resultError(failure))
    } catch let error as ProtocolError {
      throw ResultError(.malformedResult, "answer to submit: \(error.message)", effect: .unknown)
    }
  }

  /// Tells the plugin what the broker holds open, and asks what it knows.
  ///
  /// A plugin without `reconcile` knows nothing: every standing is unknown. Many handoffs are asked
  /// about in several messages.
  package func reconcile(_ handoffs: [SubmitParameters]) async throws -> [HandoffKnowledge] {
    let (peer, introduction) = try await readyConnection()
    let unknown = handoffs.map { HandoffKnowledge(handoffID: $0.handoffID, standing: .unknown) }
    guard introduction.offers(.reconcile), !handoffs.isEmpty else { return unknown }
    var answered: [HandoffKnowledge] = []
    do {
      for batch in try ReconcileBatches.of(handoffs) {
        for handoff in batch { redaction.add(handoff.request.state) }
        let parameters = ReconcileParameters(handoffs: batch)
        let answer: ReconcileAnswer = try await ask(peer, .reconcile, parameters) { answer in
          redaction.redactedReconciliation(answer)
        }
        answered += answer.handoffs
      }
    } catch  where Self.isUnsupported(error) {
      return unknown
    }
    // What it does not mention, and what it was not asked, are both not known.
    let known = Dictionary(answered.map { ($0.handoffID, $0) }) { first, _ in first }
    return unknown.map { known[$0.handoffID].map(shown) ?? $0 }
  }

  /// Asks what became of one handoff.
  ///
  /// A plugin without `probe` does not know.
  package func probe(_ handoff: HandoffReference) async throws -> HandoffKnowledge {
    let (peer, introduction) = try await readyConnection()
    redaction.add(handoff.state)
    let unknown = HandoffKnowledge(handoffID: handoff.handoffID, standing: .unknown)
    guard introduction.offers(.probe) else { return unknown }
    do {
      let knowledge: HandoffKnowledge = try await ask(peer, .probe, handoff) { answer in
        redaction.redactedKnowledge(answer)
      }
      return knowledge.handoffID == handoff.handoffID ? shown(knowledge) : unknown
    } catch  where Self.isUnsupported(error) {
      return unknown
    }
  }

  /// Asks whether a request would be taken, and what would be changed; nothing is submitted.
  ///
  /// nil where the plugin does not offer it.
  package func preflight(_ parameters: PreflightParameters) async throws -> PreflightAnswer? {
    let (peer, introduction) = try await readyConnection()
    guard introduction.offers(.preflight) else { return nil }
    redaction.add(parameters.request.state)
    do {
      return try await ask(peer, .preflight, parameters) { answer in redaction.redacted(answer) }
    } catch  where Self.isUnsupported(error) {
      return nil
    }
  }

  /// Asks the plugin to give up a handoff, and returns its answer; nil if it cannot be asked.
  package func cancel(_ handoff: HandoffReference) async throws -> CancelAnswer? {
    let (peer, introduction) = try await readyConnection()
    guard introduction.offers(.cancel) else { return nil }
    redaction.add(handoff.state)
    do {
      let answer: JSONValue = try await ask(peer, .cancel, handoff) { answer in
        redaction.redactedKnowledge(answer)
      }
      guard answer["standing"] != nil else { return .heard }
      let knowledge = try WireCoder.document(HandoffKnowledge.self, from: answer)
      return knowledge.handoffID == handoff.handoffID ? .knows(shown(knowledge)) : .heard
    } catch let error as ProtocolError {
      throw ResultError(.malformedResult, "answer to cancel: \(error.message)", effect: .unknown)
    } catch  where Self.isUnsupported(error) {
      return nil
    }
  }

  private func shown(_ knowledge: HandoffKnowledge) -> HandoffKnowledge {
    var knowledge = knowledge
    knowledge.message = knowledge.message.map { shown($0) }
    return knowledge
  }

  /// Asks the plugin to end, and closes the connection; ``run()`` returns when it has ended, at the
  /// latest after twice the grace.
  package func shutdown() async {
    do {
      let (peer, _) = try await readyConnection()
      defer { peer.close() }
      _ = try await peer.call(MessageMethod.shutdown.rawValue, within: limits.grace)
    } catch {
      // It has ended already, or does not answer: the end of the connection is told either way.
      launch.host.logger.debug(
        "A plugin did not answer shutdown",
        [.destination: settings.name.text, .error: "\(error)"]
      )
    }
  }

  // MARK: Calls and their errors

  /// Without a time it waits for as long as the connection lasts.
  func ask<Answer: Decodable>(
    _ peer: RPCPeer,
    _ method: MessageMethod,
    _ parameters: some Encodable,
    within time: Duration?,
    redacting: (JSONValue) -> JSONValue = { $0 }
  ) async throws -> Answer {
    do {
      let answer = try await call(peer, method, parameters, within: time)
      return try WireCoder.document(Answer.self, from: redacting(answer))
    } catch let failure as RPCMessage.Failure {
      throw Self.isUnsupported(failure) ? failure : resultError(failure)
    } catch let error as ProtocolError {
      throw ResultError(
        .malformedResult,
        "answer to \(method.rawValue): \(error.message)",
        effect: .unknown
      )
    }
  }

  private func ask<Answer: Decodable>(
    _ peer: RPCPeer,
    _ method: MessageMethod,
    _ parameters: some Encodable,
    redacting: (JSONValue) -> JSONValue = { $0 }
  ) async throws -> Answer {
    try await ask(peer, method, parameters, within: patience, redacting: redacting)
  }

  /// For the answer to what is asked in passing.
  var patience: Duration { min(limits.answer, settings.idle) }

  private func call(
    _ peer: RPCPeer,
    _ method: MessageMethod,
    _ parameters: some Encodable
  ) async throws -> JSONValue {
    try await call(peer, method, parameters, within: patience)
  }

  private func call(
    _ peer: RPCPeer,
    _ method: MessageMethod,
    _ parameters: some Encodable,
    within time: Duration?
  ) async throws -> JSONValue {
    do {
      return try await peer.call(
        method.rawValue,
        try WireCoder.value(parameters),
        within: time
      )
    } catch let error as PeerError {
      let code: ErrorCode
      switch error {
      case .notSent: throw Self.gone
      case .timedOut: code = .receiverTimeout
      case .closed, .notReading: code = .receiverCrashed
      }
      throw ResultError(code, "\(method.rawValue): \(error)", effect: .unknown)
    }
  }

  static func isUnsupported(_ error: any Error) -> Bool {
    (error as? RPCMessage.Failure)?.code == RPCMessage.Failure.unsupported("").code
  }

  private func resultError(_ failure: RPCMessage.Failure) -> ResultError {
    if let error = failure.data { return redaction.redacted(error) }
    // Cut after redaction: half a token would not be known for one.
    let message = redaction.redacted(failure.message)
    return ResultError(.receiverFailed, String(message.prefix(300)), effect: .unknown)
  }
}
