import HTTPClient
import HandoffCore
package import HandoffProtocol

/// How the delivery to an `http` receiver ended.
package enum HTTPDelivery: Sendable {
  /// The receiver has taken it; its result comes later, signed.
  case accepted
  /// This is the result.
  case result(HandoffResult)
  /// The receiver wants nothing from here any more (410): the destination stops, and the handoff waits.
  case gone(ResultError)
}

/// What the exchange with an `http` receiver means: pure; the table is in Webhooks.md.
struct HTTPOutcome: Sendable {
  let answer: DestinationSettings.Answer
  /// The receiver drops what it has had: nothing happens twice, and an uncertain attempt is made again.
  let isIdempotent: Bool
  let request: HandoffRequest
  let redaction: TokenRedaction

  /// No answer came.
  func delivery(of failure: HTTPFailure) -> HTTPDelivery {
    guard failure.wasSent else {
      let isFixed = failure.kind == .request
      return ended(
        isFixed ? .notConfigured : .destinationUnavailable,
        "nothing was sent: \(failure)",
        effect: .none,
        retry: isFixed ? .afterFix : .later
      )
    }
    return uncertain(
      failure.kind == .timeout ? .receiverTimeout : .network,
      "no answer came: \(failure)"
    )
  }

  /// An answer came.
  ///
  /// - Parameters:
  ///   - reply: the answer.
  ///   - now: seconds since 1970.
  /// - Returns: what the status means, or what a result document in the body says.
  func delivery(of reply: HTTPReply, now: Int64) -> HTTPDelivery {
    let wait = reply.retryAfter(now: now)
    let said = "HTTP \(reply.status)\(HTTPAnswerText(reply).said.map { ": \($0)" } ?? "")"
    switch reply.status {
    case 200..<300:
      guard answer == .status else { return .accepted }
      return document(in: reply) ?? result(.success(output: [:]))
    case 408, 504:
      return uncertain(.receiverTimeout, said, wait)
    case 410:
      return .gone(
        redacted(
          ResultError(
            .destinationUnavailable,
            "\(said): it wants no requests any more",
            effect: .none,
            retry: .later
          )
        )
      )
    case 429:
      return ended(.quota, said, effect: .none, retry: .later, after: wait)
    case 503:
      return ended(.destinationUnavailable, said, effect: .none, retry: .later, after: wait)
    case 400..<500:
      return refusal(in: reply) ?? refused(reply.status, said)
    default:
      return uncertain(.receiverFailed, said, wait)
    }
  }

  // MARK: A full result document

  /// The result that the body is; nil where it is none, so that the status decides.
  ///
  /// What was meant as one and cannot be read is malformed.
  private func document(in reply: HTTPReply) -> HTTPDelivery? {
    let value: JSONValue
    switch possibleResult(in: reply) {
    case .none: return nil
    case .unreadable(let reason): return malformed("its result cannot be read: \(reason)")
    case .document(_, let size) where size > HandoffResult.maximumSize:
      return malformed("\(size) bytes, more than \(HandoffResult.maximumSize)")
    case .document(let document, _): value = document
    }
    do {
      let own = try WireCoder.document(HandoffResult.self, from: redaction.redactedResult(value))
      guard own.state.matches(request.state) else {
        return malformed("the result has another state token")
      }
      if let fault = own.violation(ofVersion: request.protocolVersion) {
        return malformed(fault.message)
      }
      return .result(own)
    } catch {
      return malformed((error as? ProtocolError)?.message ?? "not a result")
    }
  }

  private func possibleResult(in reply: HTTPReply) -> PossibleResult {
    // A media type that says JSON, as application/problem+json does, says that it was meant to be read.
    let type = reply.headers["content-type"]?.lowercased() ?? ""
    let isJSON = type.split(separator: ";").first.map { $0.contains("json") } ?? false
    let begins = reply.body.first { !HTTPAnswerText.isBlank($0) } == UInt8(ascii: "[")
    let cut = PossibleResult.unreadable("the answer is too long")
    let whole = PossibleResult(of: reply.body, mustBeJSON: isJSON || begins)
    // What was cut may have been one.
    if reply.isCut, case .none = whole { return isJSON || begins ? cut : whole }
    return reply.isCut ? cut : whole
  }

  /// A result that says itself what was wrong; one that says otherwise contradicts its status.
  private func refusal(in reply: HTTPReply) -> HTTPDelivery? {
    // A refusal that cannot be read is one all the same, as its status says.
    guard answer == .status, case .document = possibleResult(in: reply),
      case .result(let own) = document(in: reply)
    else { return nil }
    switch own.outcome {
    case .success: return malformed("a success with HTTP \(reply.status)")
    case .cancelled, .failure: return .result(own)
    }
  }

  private func malformed(_ reason: String) -> HTTPDelivery {
    uncertain(.malformedResult, reason)
  }

  // MARK: Failures

  private func refused(_ status: Int, _ said: String) -> HTTPDelivery {
    switch status {
    case 401, 403, 407:
      ended(.auth, said, effect: .none, retry: .afterFix)
    case 404, 405, 421:
      ended(.notConfigured, said, effect: .none, retry: .afterFix)
    case 400, 411, 413, 414, 415, 422, 431:
      ended(.malformedRequest, said, effect: .none)
    default:
      ended(.receiverFailed, said, effect: .none)
    }
  }

  private func uncertain(_ code: ErrorCode, _ message: String, _ wait: Int? = nil) -> HTTPDelivery {
    isIdempotent
      ? ended(code, message, effect: .unknown, retry: .later, after: wait)
      : ended(code, message, effect: .unknown)
  }

  private func ended(
    _ code: ErrorCode,
    _ message: String,
    effect: Effect,
    retry: RetryAdvice = .never,
    after wait: Int? = nil
  ) -> HTTPDelivery {
    let error = ResultError(code, message, effect: effect, retry: retry, retryAfter: wait)
    return result(.failure(redacted(error)))
  }

  private func redacted(_ error: ResultError) -> ResultError { redaction.redacted(error) }

  private func result(_ outcome: HandoffResult.Outcome) -> HTTPDelivery {
    .result(
      HandoffResult(state: request.state, outcome: outcome, version: request.protocolVersion)
    )
  }
}
