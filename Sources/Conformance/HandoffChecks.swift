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
    if let reason = try outside() { return stage.ledger.skip(Self.all, reason) }
    try await stage.check(.preflight) { life, trial in try await preflight(life, trial) }
    guard try await plain() else { return }
    try await SideChecks(stage: stage).run()
    try await RestartChecks(stage: stage).run()
  }

  private static let ofOneHandoff: Set<CheckName> = [
    .submit, .resolve, .result, .state, .resultVersion, .repeatedSubmit, .probeFinished,
    .grantedFile, .verify, .verifyMissing,
  ]
  private static let all: [CheckName] = [
    .unknownMembers, .preflight, .submit, .resolve, .result, .state, .resultVersion,
    .repeatedSubmit, .eachVersion, .severalAssets, .several, .assetDeleted, .accessLimited,
    .probeUnknown,
    .probeFinished, .cancel, .killedAtWork, .killedAfterResult, .replay, .grantedFile,
    .verify, .verifyMissing,
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

  /// Why a broker would not hand the video off; nil if it would.
  private func outside() throws -> String? {
    let trial = try stage.trial()
    let video = try TrialVideo(1, in: trial.folder.grants, stage.plugin.video)
    guard let reason = video.isOutside(stage.profile.constraints) else { return nil }
    return
      "\(stage.plugin.video == nil ? "the kit's" : "the given") video is outside its constraints "
      + "(\(reason)); give another with --video"
  }

  /// One handoff with everything that can be seen in it; false if nothing more can be checked.
  private func plain() async throws -> Bool {
    guard stage.wants(Self.ofOneHandoff) else { return true }
    let trial = try stage.trial()
    return try await trial.live { life in
      let request = try trial.request(grantedBy: life.desk)
      guard let result = try await done(request, life) else { return false }
      try await stage.ledger.check(.resultVersion, life) { try version(result, of: request) }
      // Time for a second one, which ``LifeWatch`` sees.
      _ = await life.unwanted(.result)
      try await stage.ledger.check(.repeatedSubmit, life) {
        try await repeated(request, result, life)
      }
      try await stage.ledger.check(.probeFinished, life) {
        try await probe(request, result, life)
      }
      // And for one that comes late.
      _ = await life.unwanted(.result)
      try await stage.ledger.check(.grantedFile, life) { try grantedFile(request, trial) }
      try await VerifyingChecks(stage: stage, life: life, trial: trial).run(request, result)
      return true
    }
  }

  /// The handoff's result, if it was handed off as it should be.
  private func done(_ request: TrialRequest, _ life: PluginLife) async throws -> HandoffResult? {
    let ledger = stage.ledger
    let taken: Void? = try await ledger.check(.submit, life) {
      try judge(try await life.submit(request))
    }
    guard taken != nil else { return nil }
    let value = try await ledger.attempt(.result, life) { try await life.nextResult() }
    guard let value else { return nil }
    let named: Void? = try await ledger.attempt(.resolve, life) { try foreign(request, life) }
    guard named != nil else { return nil }
    let result = try await ledger.check(.result, life) {
      let result = try PluginLife.result(value)
      try success(result)
      return result
    }
    guard let result else { return nil }
    let carried: Void? = try await ledger.check(.state, life) {
      if value["state"]?.text == request.token { return }
      throw Finding(
        "the result has another `state` than its request",
        mend:
          "Give back the request's `state` byte by byte; it is the only thing that ties the result "
          + "to its request. Do not trim, encode or make it."
      )
    }
    let resolved: Void? = try await ledger.check(.resolve, life) { try asked(request, life) }
    return carried == nil || resolved == nil ? nil : result
  }

  /// What does not take the kit's video can be checked in nothing else, and is not right by that.
  private func judge(_ answer: SubmitAnswer) throws {
    if answer.accepted { return }
    guard let error = answer.error, error.effect == .none else {
      throw Finding(
        "not accepted, and no `error` with effect none",
        mend: "Answer {\"accepted\": true}, or false with an `error` whose effect is none."
      )
    }
    try explain(error)
    throw Finding("it refused the video (\(error.code): \(error.message))", mend: Self.handOff)
  }

  private func success(_ result: HandoffResult) throws {
    switch result.outcome {
    case .success: return
    case .cancelled:
      throw Finding(
        "the result is \"cancelled\", though nobody has cancelled the handoff",
        mend: Self.handOff
      )
    case .failure(let error):
      try explain(error)
      throw Finding("it failed the video (\(error.code): \(error.message))", mend: Self.handOff)
    }
  }

  private static let handOff =
    "Hand off what the constraints allow, and send a success. What it does not take belongs in the "
    + "constraints of `discover`; what it needs to know, in --settings and --env; a video that it takes "
    + "can be given with --video."

  /// Without settings nothing can be done, and a plugin says so.
  private func explain(_ error: ResultError) throws {
    guard error.code == .notConfigured, error.effect == .none else { return }
    let reason = "it is not configured (\(error.message)); give --settings"
    stage.ledger.skip(Self.all, reason)
    throw Skip(reason)
  }

  private func foreign(_ request: TrialRequest, _ life: PluginLife) throws {
    guard let asked = life.desk.foreign.first else { return }
    throw Finding(
      "it asked for the asset \"\(asked)\", which the request does not name",
      mend: "Ask for the local identifier as the request has it, byte by byte: it is a name, not a "
        + "path, and nothing is to be made of its parts."
    )
  }

  private func asked(_ request: TrialRequest, _ life: PluginLife) throws {
    try foreign(request, life)
    if life.desk.resolveCount(request.token) > 0 { return }
    throw Finding(
      "a success without one `asset.resolve`"
        + (life.desk.unknownTokens > 0 ? " that had the request's token" : ""),
      mend: "Ask for every asset with `asset.resolve`, with the request's `state` and its local "
        + "identifier, and work with the path of the answer."
    )
  }

  private func version(_ result: HandoffResult, of request: TrialRequest) throws {
    guard result.protocolVersion != request.version else { return }
    throw Finding(
      "the result is of version \(result.protocolVersion), its request of \(request.version)",
      mend: "Copy `protocol_version` from the request into its result."
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
    let left = try GrantsLook(folder: trial.folder).findings(of: request.videos)
    guard let left else { return }
    throw Finding(
      left,
      mend:
        "Only read what was granted, and copy what is to stay (no link: the path ends with the handoff); "
        + "write to HANDOFF_WORK, or to folders of the settings."
    )
  }
}
