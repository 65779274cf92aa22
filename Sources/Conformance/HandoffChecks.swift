import HandoffProtocol

/// Handoffs from their submission to their result.
struct HandoffChecks: Sendable {
  let stage: CheckStage

  func run() async throws {
    guard stage.profile.isConfigured else {
      let missing = stage.profile.missingSettings.joined(separator: ", ")
      try await stage.check(.submit) { life, trial in try await unconfigured(life, trial) }
      stage.ledger.skip(Self.all, "it needs settings (\(missing)); give --settings")
      return
    }
    try await stage.check(.preflight) { life, trial in try await preflight(life, trial) }
    guard try await plain() else { return }
    try await SideChecks(stage: stage).run()
    try await RestartChecks(stage: stage).run()
  }

  private static let ofOneHandoff: Set<CheckName> = [
    .submit, .resolve, .result, .state, .resultVersion, .resultOnce, .repeatedSubmit,
    .probeFinished,
    .grantedFile, .secrecy,
  ]
  private static let all: [CheckName] = [
    .unknownMembers, .preflight, .resolve, .result, .state, .resultVersion, .resultOnce,
    .repeatedSubmit, .eachVersion, .several, .assetDeleted, .accessLimited, .probeUnknown,
    .probeFinished, .cancel, .killedAtWork, .killedAfterResult, .replay, .grantedFile, .secrecy,
  ]

  /// Without settings nothing can be done, and nothing may be taken.
  private func unconfigured(_ life: PluginLife, _ trial: Trial) async throws {
    let answer = try await life.submit(try trial.request(grantedBy: life.desk))
    guard let error = answer.error, !answer.accepted, error.code == .notConfigured,
      error.effect == .none
    else {
      throw Finding(
        "a plugin without settings took the request, or refused it with another code",
        mend: "Refuse requests with the code not_configured and effect none until `discover` has "
          + "brought settings that can be used."
      )
    }
  }

  private func preflight(_ life: PluginLife, _ trial: Trial) async throws {
    try stage.needs(.preflight)
    let request = try trial.request(grantedBy: life.desk)
    let answer = try await life.submit(request, as: .preflight)
    guard answer.accepted || answer.error != nil else {
      throw Finding("not accepted, and no `error`", mend: "Say why it would not be taken.")
    }
    let mend = "Only answer `preflight`: whether the request would be taken. Do nothing with it."
    if await life.unwanted(.result) != nil {
      throw Finding("a result came after `preflight`", mend: mend)
    }
    if life.desk.resolveCount(request.token) > 0 {
      throw Finding("`preflight` resolved an asset", mend: mend)
    }
  }

  /// One handoff with everything that can be seen in it; false if nothing more can be checked.
  private func plain() async throws -> Bool {
    guard stage.wants(Self.ofOneHandoff) else { return true }
    let trial = try stage.trial()
    return try await trial.live { life in
      let request = try trial.request(grantedBy: life.desk)
      guard let result = try await done(request, life) else { return false }
      try await stage.ledger.check(.resultVersion, life) { try version(result, of: request) }
      try await stage.ledger.check(.resultOnce, life) { try await once(life) }
      try await stage.ledger.check(.repeatedSubmit, life) {
        try await repeated(request, result, life)
      }
      try await stage.ledger.check(.probeFinished, life) {
        try await probe(request, result, life)
      }
      try await stage.ledger.check(.grantedFile, life) { try grantedFile(request, trial) }
      try await stage.ledger.check(.secrecy, life) { try secrecy(result, request, life) }
      return true
    }
  }

  private func done(_ request: TrialRequest, _ life: PluginLife) async throws -> HandoffResult? {
    let ledger = stage.ledger
    let answer = try await ledger.check(.submit, life) {
      let answer = try await life.submit(request)
      guard !answer.accepted, answer.error?.effect != Effect.none else { return answer }
      throw Finding(
        "not accepted, and no `error` with effect none",
        mend: "Answer {\"accepted\": true}, or false with an `error` whose effect is none."
      )
    }
    guard let answer else { return nil }
    if let error = answer.error, !answer.accepted {
      ledger.skip(Self.all, "it refused the kit's video (\(error.code): \(error.message))")
      return nil
    }
    let raw = try await ledger.check(.result, life) { () -> (JSONValue, HandoffResult) in
      let value = try await life.nextResult()
      return (value, try PluginLife.result(value))
    }
    guard let (value, result) = raw else { return nil }
    let carried = try await ledger.check(.state, life) { () -> Bool in
      if value["state"]?.text == request.token { return true }
      throw Finding(
        "the result has another `state` than its request",
        mend:
          "Give back the request's `state` byte by byte; it is the only thing that ties the result "
          + "to its request. Do not trim, encode or make it."
      )
    }
    guard carried == true else { return nil }
    return try await succeeded(result, request, life) ? result : nil
  }

  /// Whether the kit's video was handed off; what depends on it is skipped otherwise.
  private func succeeded(
    _ result: HandoffResult,
    _ request: TrialRequest,
    _ life: PluginLife
  ) async throws -> Bool {
    if case .failure(let error) = result.outcome {
      stage.ledger.skip(Self.all, "it failed the kit's video (\(error.code): \(error.message))")
      return false
    }
    try await stage.ledger.check(.resolve, life) {
      if life.desk.resolveCount(request.token) > 0 { return }
      throw Finding(
        "a success without one `asset.resolve`"
          + (life.desk.unknownTokens > 0 ? " that had the request's token" : ""),
        mend: "Ask for every asset with `asset.resolve`, with the request's `state` and its local "
          + "identifier, and work with the path of the answer."
      )
    }
    return true
  }

  private func version(_ result: HandoffResult, of request: TrialRequest) throws {
    guard result.protocolVersion != request.version else { return }
    throw Finding(
      "the result is of version \(result.protocolVersion), its request of \(request.version)",
      mend: "Copy `protocol_version` from the request into its result."
    )
  }

  private func once(_ life: PluginLife) async throws {
    guard await life.unwanted(.result) != nil else { return }
    throw Finding(
      "a second result came",
      mend:
        "Send `handoff.result` once, and again only over a new connection; the broker refuses the "
        + "second as already_consumed."
    )
  }

  private func repeated(
    _ request: TrialRequest,
    _ result: HandoffResult,
    _ life: PluginLife
  ) async throws {
    let before = life.desk.resolveCount(request.token)
    _ = try await life.submit(request)
    let second = await life.unwanted(.result)
    let mend =
      "Keep what you have ended under its `handoff_id`, and answer the same request from there: the "
      + "broker may send it again when it does not know that it came."
    if life.desk.resolveCount(request.token) > before {
      throw Finding("the request was worked on a second time", mend: mend)
    }
    if let second, try PluginLife.result(second).outcome != result.outcome {
      throw Finding("the second result differs from the first", mend: mend)
    }
  }

  private func probe(
    _ request: TrialRequest,
    _ result: HandoffResult,
    _ life: PluginLife
  ) async throws {
    try stage.needs(.probe)
    let knowledge = try await life.ask(.probe, request.reference, HandoffKnowledge.self)
    guard knowledge.standing == .finished, knowledge.result?.outcome == result.outcome else {
      throw Finding(
        "the standing of a handoff that has ended is \(knowledge.standing.rawValue), or its result "
          + "another",
        mend: "Answer `probe` with \"finished\" and the `result` that was sent."
      )
    }
  }

  private func grantedFile(_ request: TrialRequest, _ trial: Trial) throws {
    let left = try GrantsLook(folder: trial.folder.grants).findings(of: request.video)
    guard let left else { return }
    throw Finding(
      left,
      mend: "Only read what was granted; write to HANDOFF_WORK, or to folders of the settings."
    )
  }

  private func secrecy(
    _ result: HandoffResult,
    _ request: TrialRequest,
    _ life: PluginLife
  ) throws {
    let answer = try WireCoder.encode(HandoffResult(state: result.state, outcome: result.outcome))
    let told = String(decoding: answer, as: UTF8.self)
    let mend = "Use `handoff_id` where people look; the state token is for the broker alone."
    if life.output.text.contains(request.token) {
      throw Finding("the state token is in what the plugin wrote to its log", mend: mend)
    }
    if told.ranges(of: request.token).count > 1 {
      throw Finding("the state token is in the result's output or error", mend: mend)
    }
  }
}
