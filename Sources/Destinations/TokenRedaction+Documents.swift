package import HandoffCore
package import HandoffProtocol

/// Documents of receivers lose the tokens before they are read, so that none reaches the ledger or the
/// log inside a message, a remedy or an output, nor inside the error about a malformed document.
extension TokenRedaction {
  /// The value with every known token replaced in its texts and member names.
  func redacted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .integer, .number: value
    case .string(let text): .string(redacted(text))
    case .array(let elements): .array(elements.map { redacted($0) })
    case .object(let members): .object(redacted(members))
    }
  }

  /// A result: its own `state` stays, which says what it answers, and is replaced elsewhere even if it
  /// is not known any more.
  func redactedResult(_ value: JSONValue) -> JSONValue {
    let rest = redacted(value, keeping: "state") { $0 }
    // A short one is none of the broker's, and would be found in any word.
    guard let token = value["state"]?.text.flatMap({ StateToken($0) }),
      token.revealed.utf8.count >= Self.shortestToken
    else { return rest }
    let own = TokenRedaction(capacity: 1)
    own.add(token)
    return own.redacted(rest, keeping: "state") { $0 }
  }

  /// A result that was read already, whoever brought it: its own token is replaced in all that is kept and
  /// shown of it, and so is the grant that its receiver was given.
  package static func redactedResult(
    _ result: HandoffResult,
    grant: Grant? = nil
  ) -> HandoffResult {
    let own = TokenRedaction(capacity: 2)
    if result.state.revealed.utf8.count >= shortestToken { own.add(result.state) }
    if let grant { own.add(grant) }
    var result = result
    switch result.outcome {
    case .success(let output): result.outcome = .success(output: own.redacted(output))
    case .cancelled(let error): result.outcome = .cancelled(error.map { own.redacted($0) })
    case .failure(let error): result.outcome = .failure(own.redacted(error))
    }
    return result
  }

  /// An answer to `probe`: the result within stays one.
  func redactedKnowledge(_ value: JSONValue) -> JSONValue {
    redacted(value, keeping: "result", redactedResult)
  }

  /// An answer to `reconcile`.
  func redactedReconciliation(_ value: JSONValue) -> JSONValue {
    redacted(value, keeping: "handoffs") { handoffs in
      guard case .array(let elements) = handoffs else { return redacted(handoffs) }
      return .array(elements.map { redactedKnowledge($0) })
    }
  }

  /// An error that a receiver answered with.
  func redacted(_ error: ResultError) -> ResultError {
    var error = error
    error.message = redacted(error.message)
    error.remedy = error.remedy.map { redacted($0) }
    return error
  }

  private static let shortestToken = 32

  private func redacted(_ members: [String: JSONValue]) -> [String: JSONValue] {
    Dictionary(members.map { (redacted($0), redacted($1)) }) { first, _ in first }
  }

  private func redacted(
    _ value: JSONValue,
    keeping name: String,
    _ change: (JSONValue) -> JSONValue
  ) -> JSONValue {
    guard case .object(var members) = value else { return redacted(value) }
    let kept = members.removeValue(forKey: name)
    members = redacted(members)
    members[name] = kept.map(change)
    return .object(members)
  }
}
