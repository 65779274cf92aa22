import HandoffProtocol

/// Requests that a receiver must refuse, whatever the broker has checked.
struct RefusalChecks: Sendable {
  let stage: CheckStage

  func run() async throws {
    if stage.wants([.settings]) { try await settings() }
    try await stage.check(.malformedRequest) { life, trial in
      for wrong in [
        ["local_identifiers": JSONValue.array([]), "local_identifier": .integer(17)],
        ["state": .integer(1)], ["media_type": .string("hologram")],
      ] {
        var request = try trial.request(grantedBy: life.desk)
        request.members = wrong
        _ = try await refusal(
          of: request,
          life,
          mend: "Check the request before you take it: identifiers, token and media type must have "
            + "their shape. Refuse with {\"accepted\": false, \"error\": {…, \"effect\": \"none\"}}."
        )
      }
    }
    try await stage.check(.foreignVersion) { life, trial in
      for version in Set([1, 2, 3, 99]).subtracting(stage.profile.versions).sorted() {
        let request = try trial.request(version: version, grantedBy: life.desk)
        try await expectIncompatible(
          request,
          life,
          mend:
            "Refuse every request whose `protocol_version` is not among those of `discover`, with "
            + "the code version_incompatible and effect none: members that you do not know may change "
            + "what it means."
        )
      }
    }
    try await stage.check(.mustUnderstand) { life, trial in
      var request = try trial.request(grantedBy: life.desk)
      request.members = [
        "must_understand": .array([.string("conformance_foreign")]),
        "conformance_foreign": .bool(true),
      ]
      try await expectIncompatible(
        request,
        life,
        mend:
          "Refuse a request whose `must_understand` names a member that you do not know, with the "
          + "code version_incompatible and effect none."
      )
    }
  }

  private func expectIncompatible(
    _ request: TrialRequest,
    _ life: PluginLife,
    mend: String
  ) async throws {
    let error = try await refusal(of: request, life, mend: mend)
    if error.code == .notConfigured, !stage.profile.isConfigured {
      throw Skip("it is not configured; give --settings")
    }
    guard error.code == .versionIncompatible else {
      throw Finding("refused with the code \(error.code)", mend: mend)
    }
  }

  /// Submits what must not be taken.
  private func refusal(
    of request: TrialRequest,
    _ life: PluginLife,
    mend: String
  ) async throws -> ResultError {
    let answer = try await life.submit(request)
    guard !answer.accepted else { throw Finding("the request was accepted", mend: mend) }
    guard let error = answer.error else {
      throw Finding("refused without an `error`", mend: mend)
    }
    guard error.effect == .none else {
      throw Finding("refused with effect \(error.effect.rawValue)", mend: mend)
    }
    return error
  }

  /// Settings without what is required.
  private func settings() async throws {
    let required = SettingsProposal(schema: stage.profile.schema).required
    guard !required.isEmpty else {
      return stage.ledger.skip([.settings], "its settings schema requires nothing")
    }
    let trial = try stage.trial()
    let life = try await PluginLife.start(
      stage.plugin,
      in: trial.folder,
      transcript: trial.transcript,
      desk: BrokerDesk(),
      ledger: stage.ledger
    )
    try await life.serve { life in
      _ = try await stage.ledger.check(.settings, life) {
        let answer = try await life.discover(.object([:]))
        if case .error(let failure) = answer, let error = failure.data,
          error.code == .notConfigured, error.effect == .none
        {
          return
        }
        throw Finding(
          "`discover` without \(required.joined(separator: ", ")) was not refused "
            + "so: \(answer)",
          mend: "Check the settings in `discover`, and answer an error whose `data` has the code "
            + "not_configured, a message that names the setting, and effect none."
        )
      }
    }.get()
  }
}
