import HandoffProtocol

/// The broker's messages, with findings for answers that are not what the protocol has.
extension PluginLife {
  /// Introduces the broker.
  func discover(_ settings: JSONValue) async throws -> Incoming.Answer {
    try await link.call(
      MessageMethod.discover.rawValue,
      .object([
        "protocol_versions": .array([.integer(1), .integer(2), .integer(3)]),
        "destination": .string("trial"),
        "settings": settings,
      ]),
      within: limits.discovery
    )
  }

  /// Sends a message and reads its answer as a document.
  func ask<Document: Decodable>(
    _ method: MessageMethod,
    _ parameters: JSONValue,
    _ type: Document.Type = Document.self
  ) async throws -> Document {
    switch try await link.call(method.rawValue, parameters, within: limits.answer) {
    case .result(let value):
      return try Self.document(type, value, "the answer to `\(method.rawValue)`")
    case .error(let failure):
      throw Finding(
        "an error: \(failure.code) \(failure.message)",
        mend:
          "Answer `\(method.rawValue)` with a result; an error is only for messages that are not "
          + "known or cannot be read."
      )
    }
  }

  /// Submits a request; an error answer counts as a refusal.
  func submit(
    _ request: TrialRequest,
    as method: MessageMethod = .submit
  ) async throws -> SubmitAnswer {
    if method == .submit { watch.expectsResult(request.token) }
    let answer = try await read(request, method)
    if method == .submit, !answer.accepted { watch.isRefused(request.token) }
    return answer
  }

  private func read(_ request: TrialRequest, _ method: MessageMethod) async throws -> SubmitAnswer {
    let answer = try await link.call(
      method.rawValue,
      request.parameters,
      within: limits.answer
    )
    switch answer {
    case .result(let value):
      return try Self.document(SubmitAnswer.self, value, "the answer to `\(method.rawValue)`")
    case .error(let failure):
      let reason = ResultError(
        failure.data?.code ?? .malformedRequest,
        failure.message,
        // What JSON-RPC itself has errors for was not begun; of any other error nobody knows.
        effect: failure.data?.effect ?? ((-32_700)...(-32_600) ~= failure.code ? .none : .unknown)
      )
      return SubmitAnswer(accepted: false, error: reason)
    }
  }

  /// Submits a request that has to be taken.
  func submitTaken(_ request: TrialRequest) async throws {
    let answer = try await submit(request)
    guard !answer.accepted else { return }
    let reason = answer.error.map { "\($0.code): \($0.message)" } ?? "without a reason"
    throw Finding(
      "the request was refused, \(reason)",
      mend: "Take it: a request like it was taken and done before."
    )
  }

  /// Whether the plugin still answers; any answer will do.
  func checkAlive(after what: String, mend: String) async throws {
    do {
      _ = try await link.call("conformance.alive", .object([:]), within: limits.answer)
    } catch let finding as Finding {
      throw Finding("after \(what): \(finding.got)", mend: mend)
    }
  }

  /// Waits for the moment when the plugin resolves an asset of a request.
  func awaitResolve(_ request: TrialRequest) async throws {
    let found = await next(.resolveAsset, within: limits.result) {
      $0["state"]?.text == request.token
    }
    guard found != nil else {
      throw Finding(
        link.silence("no `asset.resolve` with the request's token", limits.result),
        mend: "Ask for every asset with `asset.resolve`, with the request's `state` and its local "
          + "identifier; nothing else tells where it can be read."
      )
    }
  }

  /// The next result of a request, or of any where none is given, as it came.
  func nextResult(of request: TrialRequest? = nil) async throws -> JSONValue {
    let found = await next(.result, within: limits.result) { parameters in
      request.map { $0.token == parameters["state"]?.text } ?? true
    }
    guard let found else {
      throw Finding(
        link.silence("no `handoff.result`", limits.result),
        mend: "Send `handoff.result` for every request that was accepted, whatever came of it, and "
          + "write the line out at once (flush). Work that takes longer: `--within`."
      )
    }
    return found
  }

  /// The outcome of a request.
  func outcome(of request: TrialRequest) async throws -> HandoffResult.Outcome {
    try Self.result(try await nextResult(of: request)).outcome
  }

  /// Waits for a result, which has to be a success.
  func succeeds(_ request: TrialRequest) async throws {
    let mend = "End it as the handoff before it, which was a success."
    switch try await outcome(of: request) {
    case .success: return
    case .cancelled: throw Finding("its result is \"cancelled\"", mend: mend)
    case .failure(let error):
      throw Finding("it failed (\(error.code): \(error.message))", mend: mend)
    }
  }

  /// A message that must not come.
  func unwanted(_ method: MessageMethod) async -> JSONValue? {
    await next(method, within: limits.silence) { _ in true }
  }

  private func next(
    _ method: MessageMethod,
    within time: Duration,
    _ wants: @escaping @Sendable (JSONValue) -> Bool
  ) async -> JSONValue? {
    let incoming = await link.next(within: time) { incoming in
      guard case .message(method.rawValue, let parameters, _) = incoming else { return false }
      return wants(parameters)
    }
    guard case .message(_, let parameters, _) = incoming else { return nil }
    return parameters
  }

  /// Reads a result document.
  static func result(_ value: JSONValue) throws -> HandoffResult {
    let size = try WireCoder.encode(value).count
    guard size <= HandoffResult.maximumSize else {
      throw Finding(
        "the result takes \(size) bytes",
        mend:
          "Keep a result within \(HandoffResult.maximumSize) bytes: the broker takes no larger one. "
          + "Long output belongs in a file, whose path is in `output`."
      )
    }
    return try document(HandoffResult.self, value, "the result")
  }

  /// Reads a document.
  static func document<Document: Decodable>(
    _ type: Document.Type,
    _ value: JSONValue,
    _ what: String
  ) throws -> Document {
    do {
      return try WireCoder.document(type, from: value)
    } catch let error as ProtocolError {
      throw Finding(
        "\(what) is malformed: \(error.message)",
        mend:
          "Give \(what) the members and kinds of the protocol's message reference; a broker takes "
          + "a malformed one for a failure of unknown effect, never for a success."
      )
    }
  }
}
