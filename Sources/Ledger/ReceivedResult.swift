import HandoffCore
import HandoffProtocol

/// A result with all that can be made of it outside the transaction.
struct ReceivedResult: Sendable {
  /// Over whose channel it came; nil where it came by itself and only its token speaks for it.
  let destination: DestinationName?
  /// The destinations whose handoffs a result may end that came by itself.
  let unverified: Set<DestinationName>
  /// Those that there are; nil where that is not known.
  let configured: Set<DestinationName>?
  /// The row that the token names; proven only by the digest.
  let row: Int64?
  let tokenDigest: [UInt8]
  let version: Int
  let outcome: HandoffResult.Outcome
  /// JSON.
  let output: String?

  init(
    _ result: HandoffResult,
    from destination: DestinationName?,
    unverified: Set<DestinationName> = [],
    configured: Set<DestinationName>? = nil
  ) throws {
    self.destination = destination
    self.unverified = unverified
    self.configured = configured
    row = TokenMint.row(of: result.state)
    tokenDigest = try TokenMint.digest(of: result.state.revealed)
    version = result.protocolVersion
    outcome = result.outcome
    if case .success(let members) = result.outcome, !members.isEmpty {
      output = String(decoding: try WireCoder.encode(members), as: UTF8.self)
    } else {
      output = nil
    }
  }

  var isVerified: Bool { destination != nil }

  /// Where it came from, for the records: a destination, or a word that no destination can be named.
  var origin: String { destination?.text ?? "(unverified)" }

  /// Whether it may answer a handoff of a destination.
  func mayAnswer(_ name: String) -> Bool {
    guard let destination else { return unverified.contains { $0.text == name } }
    return destination.text == name
  }

  /// It came by itself for a handoff of a destination that there is no more: nobody can tell whether it
  /// may answer, so it is kept for a person.
  func isOrphan(of name: String) -> Bool {
    guard destination == nil, let configured else { return false }
    return !configured.contains { $0.text == name }
  }

  /// `success`, `cancelled` or `failure`.
  var kind: String {
    switch outcome {
    case .success: "success"
    case .cancelled: "cancelled"
    case .failure: "failure"
    }
  }

  /// A failure after which an attempt could be made again, or after which nobody knows more than before.
  var leavesOpen: Bool {
    guard case .failure(let error) = outcome else { return false }
    return error.effect != .applied
  }

  /// Where it was published, if the receiver said so.
  var address: String? { members?["url"]?.text }

  /// What a success brought.
  var members: [String: JSONValue]? {
    guard case .success(let members) = outcome else { return nil }
    return members
  }

  var error: ResultError? {
    switch outcome {
    case .success: nil
    case .cancelled(let error): error
    case .failure(let error): error
    }
  }
}

/// When a failed attempt may be made again.
struct RetryTerms: Sendable {
  let policy: RetryPolicy?
  /// 0 to 1.
  let jitter: Double

  /// The moment of the next attempt; nil where there is none.
  func next(after error: ResultError, of row: HandoffRow, now: Int64) -> Int64? {
    let elapsed = Duration.milliseconds(now - (row.firstAttemptAt ?? now))
    return policy?.wait(
      failures: Int(row.failures) + 1,
      elapsed: elapsed,
      jitter: jitter,
      floor: .seconds(error.retryAfter ?? 0)
    ).map { Timestamp(milliseconds: now).advanced(by: $0).milliseconds }
  }
}
