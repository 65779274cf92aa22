import Digests
package import HandoffCore
package import HandoffProtocol

extension Ledger {
  /// Takes a result: the token is checked, and consumed together with what the result changes.
  ///
  /// The token is consumed when the handoff ends. It stays live over attempts that failed with
  /// effect `none`, and while the outcome is unknown, so that a later answer to `probe` or
  /// `reconcile` still counts. A result that does not count is recorded and changes nothing else.
  ///
  /// - Parameters:
  ///   - result: what the receiver answered.
  ///   - destination: over whose channel it came.
  ///   - retry: when the destination's failed attempts are made again.
  ///   - jitter: 0 to 1; see ``RetryPolicy``.
  ///   - attempt: the attempt whose own end this is; where the handoff is past it, only a success counts.
  /// - Returns: what the result has changed.
  /// - Throws: where the ledger cannot be written; the result must then be brought again.
  package func consume(
    _ result: HandoffResult,
    from destination: DestinationName,
    retry: RetryPolicy,
    jitter: Double,
    attempt: Int? = nil
  ) async throws -> Consumption {
    let received = try ReceivedResult(result, from: destination)
    let terms = RetryTerms(policy: retry, jitter: jitter)
    return try await write { transaction in
      try transaction.consume(received, terms, attempt: attempt)
    }.decoded(output: received.members)
  }

  /// Takes a result that came by itself, with nothing but its token: it may end handoffs of some
  /// destinations, and is marked as unverified.
  ///
  /// - Parameters:
  ///   - result: from wherever.
  ///   - destinations: whose handoffs it may end, each with when failed attempts are made again.
  ///   - configured: all destinations that there are. For a handoff of any other it is kept as a late
  ///     result, which a person may adopt, also where the handoff's outcome is unknown.
  ///   - jitter: 0 to 1; see ``RetryPolicy``.
  /// - Returns: what the result has changed; ``Consumption/wrongDestination`` for a token of any other
  ///   destination's handoff.
  /// - Throws: as ``consume(_:from:retry:jitter:)``.
  package func consumeUnverified(
    _ result: HandoffResult,
    of destinations: [DestinationName: RetryPolicy],
    configured: Set<DestinationName>? = nil,
    jitter: Double
  ) async throws -> Consumption {
    let received = try ReceivedResult(
      result,
      from: nil,
      unverified: Set(destinations.keys),
      configured: configured
    )
    let policies = Dictionary(uniqueKeysWithValues: destinations.map { ($0.text, $1) })
    return try await write { transaction in
      let row = try received.row.flatMap { try transaction.optionalRow($0) }
      let policy = row.flatMap { policies[$0.destination] }
      return try transaction.consume(received, RetryTerms(policy: policy, jitter: jitter))
    }.decoded(output: received.members)
  }

  /// The version of the request that a token belongs to; nil where no handoff has the token.
  package func version(ofRequestWith token: StateToken) async throws -> Int? {
    guard let id = TokenMint.row(of: token) else { return nil }
    let digest = try TokenMint.digest(of: token.revealed)
    return try await write { transaction in
      guard let row = try transaction.optionalRow(id), constantTimeEqual(row.tokenDigest, digest)
      else { return nil }
      return Int(row.protocolVersion)
    }
  }

  /// Records a failure that the broker found itself: a refusal by a check, a receiver that did not
  /// start (effect `none`), crashed or fell silent (effect `unknown`).
  ///
  /// - Parameters:
  ///   - id: the handoff.
  ///   - error: what is recorded with it.
  ///   - side: whose check or failure it was.
  ///   - retry: nil for a failure after which no attempt is made.
  ///   - jitter: 0 to 1; see ``RetryPolicy``.
  ///   - attempt: the attempt that failed so; nil for what is no attempt's.
  ///   - endsWish: a wish to cancel has been carried out, though nobody knows what was left behind.
  /// - Returns: ``Consumption/alreadyConsumed`` where the handoff had ended before, and
  ///   ``Consumption/pastAttempt`` where it is past the attempt.
  /// - Throws: ``LedgerError/illegal(_:_:)`` for an effect that cannot be: before the submission
  ///   nothing can have happened.
  package func recordBrokerFailure(
    _ id: Handoff.ID,
    _ error: ResultError,
    side: Handoff.Side = .broker,
    retry: RetryPolicy? = nil,
    jitter: Double = 0,
    attempt: Int? = nil,
    endsWish: Bool = false
  ) async throws -> Consumption {
    let terms = RetryTerms(policy: retry, jitter: jitter)
    return try await write { transaction in
      var row = try transaction.row(id)
      if row.status.isFinal { return StoredConsumption.alreadyConsumed }
      if row.isPast(attempt) { return .pastAttempt }
      if endsWish { row.cancelRequestedAt = nil }
      return try transaction.fail(&row, error, side, terms, isAnswer: false)
    }.decoded(output: nil)
  }
}
