import HandoffProtocol

extension Receiver {
  /// Answers one message of the broker.
  func answer(_ method: String, _ parameters: JSONValue?) async throws -> JSONValue {
    switch MessageMethod(rawValue: method) {
    case .discover: try await WireCoder.value(discover(document(parameters)))
    case .status: try await WireCoder.value(status(parameters))
    case .preflight: try await WireCoder.value(preflight(parameters))
    case .submit: try await WireCoder.value(submit(parameters))
    case .probe: try await WireCoder.value(probe(document(parameters)))
    case .cancel: try await WireCoder.value(cancel(document(parameters)))
    case .reconcile: try await WireCoder.value(reconcile(document(parameters)))
    case .verify: try await WireCoder.value(verify(document(parameters)))
    case .stopVerifying: try stopVerifying(document(parameters))
    case .shutdown: .object([:])
    case .resolveAsset, .registerAsset, .progress, .result, .log, nil:
      throw RPCMessage.Failure.unsupported(method)
    }
  }

  private func document<Document: Decodable>(_ parameters: JSONValue?) throws -> Document {
    do {
      return try WireCoder.document(Document.self, from: parameters)
    } catch let error as ProtocolError {
      throw RPCMessage.Failure.invalidParameters(error.message)
    }
  }

  /// Says what this is, and makes the destination of its settings.
  ///
  /// Settings that are `null` only ask what this is.
  private func discover(_ parameters: DiscoverParameters) async throws -> Discovery {
    try agree(parameters.protocolVersions)
    destination = await made(of: parameters.settings)
    if case .failure(let error) = destination, parameters.settings != .null {
      throw RPCMessage.Failure.refused(error)
    }
    startWaiting()
    return Served.descriptor.discovery
  }

  /// A broker that writes no version that is read here gives no handoff either.
  private func agree(_ written: [Int]) throws(RPCMessage.Failure) {
    do {
      _ = try VersionAgreement(
        written: written,
        configured: written,
        receiver: DestinationDescriptor.protocolVersions
      )
    } catch {
      throw .refused(error)
    }
  }

  private func made(of settings: JSONValue) async -> Result<Served, ResultError> {
    do {
      let members = settings == .null ? .object([:]) : settings
      let decoded = try WireCoder.document(Served.Settings.self, from: members)
      return .success(try await Served(settings: decoded, context: context))
    } catch let error as ResultError {
      return .failure(error)
    } catch {
      let reason = (error as? ProtocolError)?.message ?? "\(error)"
      return .failure(
        .notConfigured(
          "settings: \(reason)",
          remedy: "Correct [destination.\(context.name.text).settings]."
        )
      )
    }
  }

  private func status(_ parameters: JSONValue?) async throws -> StatusAnswer {
    let question: StatusQuestion =
      switch parameters {
      case nil, .null: StatusQuestion()
      default: try document(parameters)
      }
    var answer = StatusAnswer(status: .up, running: runningCount, waiting: waiting.count)
    do {
      let destination = try destination.get()
      if question.checks { answer.checks = await destination.checks() }
      try await destination.checkStatus()
    } catch {
      answer.status = .down
      answer.reason = (error as? ResultError)?.message ?? "\(error)"
    }
    return answer
  }

  /// Looks again at what succeeded.
  private func verify(_ parameters: VerifyParameters) async throws -> VerifyAnswer {
    guard Served.descriptor.canVerify else {
      throw RPCMessage.Failure.unsupported(MessageMethod.verify.rawValue)
    }
    do {
      let destination = try destination.get()
      // Its own task, which `verify.stop` can end.
      let task = Task { try await destination.verify(parameters) }
      verifying[parameters.handoffID] = task
      defer { verifying[parameters.handoffID] = nil }
      return VerifyAnswer(assets: try await task.value)
    } catch {
      throw RPCMessage.Failure.refused(refusal(error))
    }
  }

  private func stopVerifying(_ parameters: StopVerifyingParameters) -> JSONValue {
    verifying[parameters.handoffID]?.cancel()
    return .object([:])
  }

  /// Would it be taken? Nothing is recorded.
  private func preflight(_ parameters: JSONValue?) async -> PreflightAnswer {
    do {
      let parameters = try WireCoder.document(PreflightParameters.self, from: parameters)
      let submitted = SubmitParameters(
        handoffID: parameters.handoffID,
        request: parameters.request
      )
      let handoff = try received(submitted)
      try check.check(parameters.assets)
      let changes = try await destination.get().preflight(handoff, assets: parameters.assets)
      return PreflightAnswer(accepted: true, changes: changes)
    } catch {
      return PreflightAnswer(accepted: false, error: refusal(error))
    }
  }

  /// Reads a request and checks it as its receiver.
  func received(_ parameters: JSONValue?) throws -> ReceivedHandoff {
    try received(WireCoder.document(SubmitParameters.self, from: parameters))
  }

  private func received(_ submitted: SubmitParameters) throws -> ReceivedHandoff {
    guard RequestCheck.isFileName(submitted.handoffID) else {
      throw ProtocolError(.malformedRequest, "handoff_id is not fit for a file name")
    }
    try check.check(submitted.request, now: now())
    return try ReceivedHandoff(submitted)
  }

  /// Why a request is not taken; nothing was done.
  func refusal(_ error: any Error) -> ResultError {
    switch error {
    case let error as ResultError: error
    case let error as ProtocolError: ResultError(error.code, error.message, effect: .none)
    default: ResultError(.destinationUnavailable, "\(error)", effect: .none, retry: .later)
    }
  }
}
