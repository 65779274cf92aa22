package import HandoffProtocol
import HandoffWire

/// Questions that are no part of a handoff: how a plugin is, and whether what it did is still there.
extension PluginProcess {
  /// Asks how the plugin is.
  ///
  /// - Parameters:
  ///   - checks: have it look at its credentials, its service and its limits too.
  ///   - time: how long that may take.
  /// - Returns: nil where it does not know the question.
  /// - Throws: ``ResultError`` where it does not answer, or not as the protocol has it.
  package func status(checks: Bool, within time: Duration) async throws -> StatusAnswer? {
    let (peer, _) = try await readyConnection()
    do {
      var answer: StatusAnswer = try await ask(
        peer,
        .status,
        StatusQuestion(checks: checks),
        within: time,
        redacting: { redaction.redacted($0) }
      )
      answer.reason = answer.reason.map { shown($0) }
      answer.checks = answer.checks?.prefix(Self.mostChecks).map { check in
        // What its containment has kept from it only the broker knows for certain.
        let denial = check.passed ? nil : launch.denial(in: check.detail)
        return DestinationCheck(
          shown(check.name),
          passed: check.passed,
          shown(check.detail) + (denial.map { "; \($0.sentence)" } ?? ""),
          remedy: denial?.remedy ?? check.remedy.map { shown($0) }
        )
      }
      return answer
    } catch  where Self.isUnsupported(error) {
      return nil
    }
  }

  /// A person reads them.
  private static let mostChecks = 50

  /// Has the plugin look again at a handoff that succeeded.
  ///
  /// Reading may take hours, so nothing but the plugin's silence ends it: it is asked for its `status`
  /// meanwhile. Cancelling tells it that nobody waits any more.
  ///
  /// - Returns: one for each asset that was asked about, in their order; nil where the plugin does not do
  ///   that.
  /// - Throws: ``ResultError`` where it did not answer, or refused to; `CancellationError`.
  package func verify(_ delivered: VerifyParameters) async throws -> [VerifiedAsset]? {
    let (peer, introduction) = try await readyConnection()
    guard introduction.offers(.verify) else { return nil }
    let answer = try await withThrowingTaskGroup(of: VerifyAnswer?.self) { group in
      group.addTask { try await self.verification(delivered, peer) }
      group.addTask { try await self.watchLife(peer) }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    return answer.map { reconciled($0.assets, with: delivered.assets) }
  }

  private func verification(
    _ delivered: VerifyParameters,
    _ peer: RPCPeer
  ) async throws -> VerifyAnswer? {
    do {
      return try await ask(
        peer,
        .verify,
        delivered,
        within: nil,
        redacting: { redaction.redacted($0) }
      )
    } catch let error as CancellationError {
      try peer.notify(
        MessageMethod.stopVerifying.rawValue,
        try WireCoder.value(StopVerifyingParameters(handoffID: delivered.handoffID))
      )
      throw error
    } catch  where Self.isUnsupported(error) {
      return nil
    }
  }

  /// Throws once the plugin does not say any more how it is; any answer will do.
  private func watchLife(_ peer: RPCPeer) async throws -> VerifyAnswer? {
    while true {
      try await Task.sleep(for: patience / 2)
      do {
        let _: JSONValue = try await ask(peer, .status, StatusQuestion(), within: patience)
      } catch  where Self.isUnsupported(error) {
        continue
      }
    }
  }

  /// What was said of each asset that was asked about; what was not said, or twice, nobody knows.
  private func reconciled(
    _ answers: [VerifiedAsset],
    with asked: [DeliveredAsset]
  ) -> [VerifiedAsset] {
    let answers = Dictionary(grouping: answers, by: \.localIdentifier)
    return asked.map { asset in
      let said = answers[asset.localIdentifier] ?? []
      guard let only = said.first, said.count == 1 else {
        return VerifiedAsset(
          localIdentifier: asset.localIdentifier,
          standing: .unknown,
          message: said.isEmpty
            ? "the receiver's answer says nothing of it" : "the receiver's answer has it twice"
        )
      }
      return VerifiedAsset(
        localIdentifier: only.localIdentifier,
        standing: only.standing,
        location: only.location.map { shown($0) },
        method: only.method.map { shown($0) },
        message: only.message.map { shown($0) }
      )
    }
  }
}
