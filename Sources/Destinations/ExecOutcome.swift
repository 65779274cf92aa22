import HandoffProtocol
import LinuxSystem

/// What the end of an `exec` receiver means: pure; the rules are those of CONTRACT.md, "Plugin
/// environment".
struct ExecOutcome: Sendable {
  /// Why the broker ended it, where it did.
  enum Interruption: Sendable, Hashable {
    /// Nothing was printed for the destination's `idle`.
    case idle(Duration)
    case ceiling(Duration)
    case tooMuchOutput(Int)
    /// The broker stops, or the handoff was cancelled.
    case cancelled
  }

  /// What its containment has to do with it, where it failed.
  var denial: ContainmentDenial?
  var end: ReceiverProcess.End
  var interruption: Interruption?
  var standardOutput: [UInt8]
  /// The last line that was printed, for people.
  var lastLine: String?
  /// It ended with the whole request unread.
  var leftRequestUnread: Bool

  /// The result of a request.
  func result(for request: HandoffRequest) -> HandoffResult {
    var outcome = outcome(for: request)
    if case .failure(let error) = outcome { outcome = .failure(error.explained(by: denial)) }
    return HandoffResult(
      state: request.state,
      outcome: outcome,
      version: request.protocolVersion
    )
  }

  private func outcome(for request: HandoffRequest) -> HandoffResult.Outcome {
    if interruption == .cancelled, let answer = answer(for: request) { return answer }
    if let interruption { return .failure(error(interruption)) }
    if !end.hasRun {
      return failure(
        .destinationUnavailable,
        "the receiver could not be contained",
        effect: .none,
        retry: .later
      )
    }
    if let answer = documentOutcome(for: request) { return answer }
    switch end.status {
    case .exited(0):
      return .success(output: [:])
    case .exited(75):
      return failure(.receiverFailed, "it asks to be tried again", effect: .none, retry: .later)
    case .exited(77):
      return .cancelled(nil)
    case .exited(let code):
      return failure(.receiverFailed, "exit code \(code)", effect: .unknown)
    case .signalled(let number):
      return failure(.receiverCrashed, "it was ended by signal \(number)", effect: .unknown)
    }
  }

  /// What a receiver that was told to end said itself: a result document, or that it was cancelled.
  private func answer(for request: HandoffRequest) -> HandoffResult.Outcome? {
    if let answer = documentOutcome(for: request) { return answer }
    return end.status == .exited(77) ? .cancelled(nil) : nil
  }

  // MARK: A full result document

  /// What the document at the end of standard output says; nil where there is none.
  private func documentOutcome(for request: HandoffRequest) -> HandoffResult.Outcome? {
    switch PossibleResult(atEndOf: standardOutput) {
    case .none: return nil
    case .document(_, let size) where size > HandoffResult.maximumSize:
      return malformed("\(size) bytes, more than \(HandoffResult.maximumSize)")
    case .document(let value, _): return outcome(of: value, for: request)
    case .unreadable(let reason):
      // Who is ended by a signal has hardly said what he wanted to say.
      if case .signalled = end.status { return nil }
      return malformed(reason)
    }
  }

  private func outcome(
    of document: JSONValue,
    for request: HandoffRequest
  ) -> HandoffResult.Outcome {
    do {
      let redaction = TokenRedaction(capacity: 1)
      redaction.add(request.state)
      // Redacted first: the error about a malformed result may quote it.
      let result = try WireCoder.document(
        HandoffResult.self,
        from: redaction.redactedResult(document)
      )
      if let fault = result.violation(ofVersion: request.protocolVersion) { throw fault }
      if result.state.matches(request.state) { return result.outcome }
      return malformed("the result has another state token")
    } catch {
      return malformed((error as? ProtocolError)?.message ?? "not a result")
    }
  }

  /// An answer that cannot be used, so nobody knows what was done.
  private func malformed(_ reason: String) -> HandoffResult.Outcome {
    var words = ""
    if case .exited(let code) = end.status, code != 0 { words = " (exit code \(code))" }
    return failure(
      .malformedResult,
      "its result cannot be read: \(reason)\(words)",
      effect: .unknown
    )
  }

  // MARK: Failures

  private static let seeLog =
    "look at the destination; all that it prints is in the log of `handoff serve --verbose`"

  /// The broker ended it, and it said nothing of its own.
  static let ended = ResultError(.interrupted, "the broker ended it", effect: .unknown)

  private func error(_ interruption: Interruption) -> ResultError {
    switch interruption {
    case .idle(let time):
      ResultError(
        .receiverTimeout,
        with("it printed nothing for \(time)"),
        effect: .unknown,
        // Most runtimes keep what goes into a pipe to themselves until there is more of it.
        remedy: "let it end, or flush its output after each line; or set a longer idle"
      )
    case .ceiling(let time):
      ResultError(.receiverTimeout, with("it was not done after \(time)"), effect: .unknown)
    case .tooMuchOutput(let limit):
      ResultError(
        .receiverFailed,
        "output too large: more than \(limit) bytes",
        effect: .unknown
      )
    case .cancelled:
      Self.ended
    }
  }

  private func failure(
    _ code: ErrorCode,
    _ message: String,
    effect: Effect,
    retry: RetryAdvice = .never
  ) -> HandoffResult.Outcome {
    .failure(
      ResultError(
        code,
        with(message),
        effect: effect,
        retry: retry,
        remedy: effect == .unknown && denial == nil ? Self.seeLog : nil
      )
    )
  }

  private func with(_ message: String) -> String {
    guard let lastLine else {
      // Where it says nothing itself, that it never read the request is all there is to tell.
      let isUnread = leftRequestUnread && interruption == nil && end.status != .exited(0)
      return isUnread ? "\(message); it printed nothing and left the request unread" : message
    }
    return "\(message): \(lastLine)"
  }
}
