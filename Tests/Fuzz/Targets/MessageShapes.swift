import HandoffProtocol

/// Decodes what a message carries as the side that receives it would.
enum MessageShapes {
  static func check(_ message: RPCMessage) throws {
    if let params = message.params, let name = message.method {
      try check(MessageMethod(rawValue: name), WireCoder.encode(params))
    }
    // What an answer answers is known by its number alone: it may be any.
    if let result = message.result { try checkAnswer(WireCoder.encode(result)) }
    guard let error = message.error?.data else { return }
    try Documents.check(ResultError.self, WireCoder.encode(error))
  }

  private static func check(_ method: MessageMethod?, _ bytes: [UInt8]) throws {
    switch method {
    case .discover: try Documents.check(DiscoverParameters.self, bytes)
    case .submit, .preflight: try Documents.check(SubmitParameters.self, bytes)
    case .probe, .cancel: try Documents.check(HandoffReference.self, bytes)
    case .reconcile: try Documents.check(ReconcileParameters.self, bytes)
    case .resolveAsset: try Documents.check(ResolveParameters.self, bytes)
    case .progress: try Documents.check(ProgressParameters.self, bytes)
    case .result: try Documents.check(HandoffResult.self, bytes)
    case .log: try Documents.check(LogParameters.self, bytes)
    case .status: try Documents.check(StatusQuestion.self, bytes)
    case .verify: try Documents.check(VerifyParameters.self, bytes)
    case .stopVerifying: try Documents.check(StopVerifyingParameters.self, bytes)
    case .shutdown, .registerAsset, nil: break
    }
  }

  private static func checkAnswer(_ bytes: [UInt8]) throws {
    try Documents.check(Discovery.self, bytes)
    try Documents.check(SubmitAnswer.self, bytes) { answer in
      try hold(!(answer.accepted && answer.error != nil), "accepted, with an error")
    }
    try Documents.check(HandoffKnowledge.self, bytes)
    try Documents.check(PreflightAnswer.self, bytes)
    try Documents.check(ReconcileAnswer.self, bytes)
    try Documents.check(ResolvedAsset.self, bytes)
    try Documents.check(StatusAnswer.self, bytes)
    try Documents.check(VerifyAnswer.self, bytes)
  }
}
