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
    if let document { return Self.outcome(of: document, for: request) }
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
    if let document { return Self.outcome(of: document, for: request) }
    return end.status == .exited(77) ? .cancelled(nil) : nil
  }

  // MARK: A full result document

  /// The last line of standard output, if it is a JSON object with `protocol_version`.
  private var document: [UInt8]? {
    let lines = standardOutput.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    guard let line = lines.last, line.first == UInt8(ascii: "{") else { return nil }
    do {
      let value = try WireCoder.decode(JSONValue.self, from: line, limit: .max)
      return value["protocol_version"] == nil ? nil : Array(line)
    } catch {
      // Not JSON, so it is an ordinary line and the exit code decides.
      return nil
    }
  }

  private static func outcome(
    of document: [UInt8],
    for request: HandoffRequest
  ) -> HandoffResult.Outcome {
    do {
      let redaction = TokenRedaction(capacity: 1)
      redaction.add(request.state)
      // Redacted first: the error about a malformed result may quote it.
      let value = try WireCoder.decode(
        JSONValue.self,
        from: document,
        limit: HandoffResult.maximumSize
      )
      let result = try WireCoder.document(
        HandoffResult.self,
        from: redaction.redactedResult(value)
      )
      if let fault = result.violation(ofVersion: request.protocolVersion) { throw fault }
      if result.state.matches(request.state) { return result.outcome }
      return .failure(
        ResultError(.malformedResult, "the result has another state token", effect: .unknown)
      )
    } catch {
      let reason = (error as? ProtocolError)?.message ?? "not a result"
      return .failure(ResultError(.malformedResult, reason, effect: .unknown))
    }
  }

  // MARK: Failures

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
    .failure(ResultError(code, with(message), effect: effect, retry: retry))
  }

  private func with(_ message: String) -> String {
    let unread = leftRequestUnread ? "; it did not read the request" : ""
    let words = lastLine.map { ": \($0)" } ?? ""
    return message + unread + words
  }
}
