import HandoffProtocol

/// What happens beside the plain walk: other versions, several at once, refused assets, questions.
struct SideChecks: Sendable {
  let stage: CheckStage

  func run() async throws {
    try await stage.check(.eachVersion) { life, trial in try await eachVersion(life, trial) }
    try await stage.check(.several) { life, trial in try await several(life, trial) }
    try await stage.check(.severalAssets) { life, trial in
      try await severalAssets(life, trial)
    }
    try await withoutAsset()
    try await stage.check(.accessLimited) { life, trial in
      try await expectFailure(.accessLimited, try trial.request(grantedBy: life.desk), life)
    }
    try await stage.check(.probeUnknown) { life, trial in try await unknown(life, trial) }
    try await stage.check(.cancel) { life, trial in try await cancel(life, trial) }
  }

  private func eachVersion(_ life: PluginLife, _ trial: Trial) async throws {
    let others = stage.profile.versions.filter {
      (1...3).contains($0) && $0 != stage.profile.version
    }
    if others.isEmpty { throw Skip("it names one version, which every other check uses") }
    for version in others.sorted() {
      let number = UInt8(10 + version)
      let request = try trial.request(number, version: version, grantedBy: life.desk)
      let mend =
        "Read version \(version) as `discover` says you do (version 1 has `local_identifier`, one "
        + "text), and answer in it; or take it out of `protocol_versions`."
      let answer = try await life.submit(request)
      guard answer.accepted else {
        let reason = answer.error?.message ?? "no reason"
        throw Finding("version \(version) was refused: \(reason)", mend: mend)
      }
      let result = try PluginLife.result(try await life.nextResult(of: request))
      if case .failure(let error) = result.outcome {
        throw Finding("version \(version) failed: \(error.message)", mend: mend)
      }
      guard result.protocolVersion == version else {
        throw Finding("the result is of version \(result.protocolVersion)", mend: mend)
      }
    }
  }

  private func severalAssets(_ life: PluginLife, _ trial: Trial) async throws {
    guard stage.profile.version > 1, stage.profile.constraints.maxCount ?? 2 > 1 else {
      throw Skip("it takes one asset in a request")
    }
    let mend =
      "Resolve and hand off every one of `local_identifiers`; or say `max_count` 1 in the constraints, "
      + "and refuse more as count_out_of_range."
    let request = try trial.request(count: 2, grantedBy: life.desk)
    let wanted = request.videos.map(\.identifier.text)
    guard Set(wanted).count == 2 else { throw Skip("of the given video there is only one") }
    let answer = try await life.submit(request)
    guard answer.accepted else {
      throw Finding("refused: \(answer.error?.message ?? "no reason")", mend: mend)
    }
    do {
      try await life.succeeds(request)
    } catch let finding as Finding {
      throw Finding("two assets: \(finding.got)", mend: mend)
    }
    let resolved = life.desk.resolved(request.token)
    guard Set(resolved) == Set(wanted) else {
      throw Finding(
        "a success, and of two assets \(Set(resolved).count) resolved",
        mend: mend
      )
    }
  }

  private func several(_ life: PluginLife, _ trial: Trial) async throws {
    let requests = try (UInt8(1)...4).map { try trial.request($0, grantedBy: life.desk) }
    for request in requests { try await life.submitTaken(request) }
    for (index, request) in requests.enumerated() {
      do {
        try await life.succeeds(request)
      } catch let finding as Finding {
        throw Finding(
          "of 4 handoffs, number \(index + 1) has no right result: \(finding.got)",
          mend:
            "Keep what belongs to one handoff apart from the others, and read the socket while you "
            + "work: more requests come before the first has ended."
        )
      }
    }
  }

  /// An asset that is gone; the request has members that nobody knows.
  private func withoutAsset() async throws {
    guard stage.wants([.unknownMembers, .assetDeleted]) else { return }
    let trial = try stage.trial()
    try await trial.live { life in
      var request = try trial.request(grantedBy: life.desk)
      request.members = ["conformance_extra": .object(["a": .array([.null, .integer(1)])])]
      let refused = request
      life.desk.setResolving(.refused(.assetDeleted))
      let taken: Void? = try await stage.ledger.check(.unknownMembers, life) {
        let answer = try await life.submit(refused)
        if answer.accepted { return }
        throw Finding(
          "a request with an unknown member was refused: \(answer.error?.message ?? "")",
          mend: "Ignore members that you do not know, unless `must_understand` names them: newer "
            + "brokers send more."
        )
      }
      guard taken != nil else { return }
      try await stage.ledger.check(.assetDeleted, life) {
        try expectNothingDone(try await life.outcome(of: refused), .assetDeleted)
      }
    }
  }

  private func expectFailure(
    _ code: ErrorCode,
    _ request: TrialRequest,
    _ life: PluginLife
  ) async throws {
    life.desk.setResolving(.refused(code))
    try await life.submitTaken(request)
    try expectNothingDone(try await life.outcome(of: request), code)
  }

  private func expectNothingDone(_ outcome: HandoffResult.Outcome, _ code: ErrorCode) throws {
    let mend =
      "When `asset.resolve` is answered with an error, end the handoff as a failure with that error's "
      + "code and effect none: nothing was done."
    switch outcome {
    case .success:
      throw Finding("a success, though the asset was refused as \(code)", mend: mend)
    case .cancelled: throw Finding("cancelled, though nobody has cancelled it", mend: mend)
    case .failure(let error) where error.effect != .none:
      throw Finding("a failure with effect \(error.effect.rawValue)", mend: mend)
    case .failure: return
    }
  }

  private func unknown(_ life: PluginLife, _ trial: Trial) async throws {
    let request = try trial.request(grantedBy: life.desk)
    let mend =
      "Answer `probe` and `reconcile` for a handoff that you have no record of with the standing "
      + "\"not_received\", or \"unknown\" if the records may have been lost."
    try stage.needs(.probe)
    let knowledge = try await life.ask(.probe, request.reference, HandoffKnowledge.self)
    guard [.notReceived, .unknown].contains(knowledge.standing) else {
      throw Finding("its standing is \(knowledge.standing.rawValue)", mend: mend)
    }
    guard knowledge.handoffID == request.id else {
      throw Finding("the answer is about \(knowledge.handoffID)", mend: mend)
    }
  }

  /// Asks before the asset is given, so that a right plugin cannot have done anything.
  private func cancel(_ life: PluginLife, _ trial: Trial) async throws {
    try stage.needs(.cancel)
    life.desk.setResolving(.held)
    let request = try trial.request(grantedBy: life.desk)
    try await life.submitTaken(request)
    try await life.awaitResolve(request)
    _ = try await life.ask(.cancel, request.reference, JSONValue.self)
    life.desk.answerHeld(life.link)
    let mend =
      "Give the handoff up when `cancel` comes before anything was done, and send the result "
      + "\"cancelled\"; or take `cancel` out of the capabilities."
    let outcome = try await life.outcome(of: request)
    switch outcome {
    case .success: throw Finding("it went on to a success", mend: mend)
    case .failure(let error) where error.effect != .none:
      throw Finding("a failure with effect \(error.effect.rawValue)", mend: mend)
    case .failure, .cancelled: return
    }
  }
}
