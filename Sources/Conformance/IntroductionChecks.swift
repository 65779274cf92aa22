import HandoffProtocol

/// What a plugin says of itself, before it is given anything.
struct IntroductionChecks: Sendable {
  let plugin: Conformance
  let ledger: CheckLedger

  /// Makes the checks.
  ///
  /// - Returns: what the plugin said; nil where nothing more can be checked.
  func run() async throws -> PluginProfile? {
    let folder = try TrialFolder(in: plugin.folders)
    let life = try await PluginLife.start(
      plugin,
      in: folder,
      transcript: Transcript(),
      desk: BrokerDesk(),
      ledger: ledger
    )
    return try await life.serve { life in try await introduce(life) }.get()
  }

  private func introduce(_ life: PluginLife) async throws -> PluginProfile? {
    let answer = try await ledger.check(.starts, life) {
      try await life.discover(plugin.settings ?? .null)
    }
    guard let answer else { return nil }
    if case .error(let failure) = answer, failure.data?.code == .notConfigured {
      let reason = "it is not configured (\(failure.message)); give --settings"
      ledger.skip(CheckName.allCases.filter { $0 != .leftovers }, reason)
      return nil
    }
    let discovery = try await ledger.check(.discoverShape, life) { try shape(answer) }
    guard let discovery else { return nil }
    try await ledger.check(.versions, life) { try versions(discovery) }
    try await ledger.check(.constraints, life) {
      try constraints(discovery.constraints ?? Constraints())
    }
    try await ledger.check(.unknownMessage, life) { try await unknownMessage(life) }
    let proposal = SettingsProposal(schema: discovery.settingsSchema)
    return PluginProfile(
      versions: discovery.protocolVersions,
      constraints: discovery.constraints ?? Constraints(),
      capabilities: Set(discovery.capabilities ?? []),
      schema: discovery.settingsSchema,
      missingSettings: plugin.settings == nil ? proposal.missing : []
    )
  }

  private func shape(_ answer: Incoming.Answer) throws -> Discovery {
    switch answer {
    case .error(let failure):
      throw Finding(
        "an error: \(failure.code) \(failure.message)",
        mend: "Answer `discover` with name, version, protocol_versions, constraints and "
          + "capabilities; `settings` that are null only ask for those."
      )
    case .result(let value):
      let discovery = try PluginLife.document(Discovery.self, value, "the answer to `discover`")
      guard !discovery.name.isEmpty, !discovery.version.isEmpty else {
        throw Finding(
          "an empty `name` or `version`",
          mend: "Give the program's own name and version: they stand in logs and in `destinations`."
        )
      }
      try capabilities(discovery.capabilities ?? [])
      return discovery
    }
  }

  /// Names that nobody knows may be those of a newer protocol; what is almost a known one is not.
  private func capabilities(_ names: [String]) throws {
    let known = MessageMethod.allCases.map(\.rawValue)
    for name in names where !known.contains(name) {
      guard let meant = known.first(where: { $0.isNearly(name) }) else { continue }
      throw Finding(
        "`capabilities` has \"\(name)\"",
        mend: "Spell it \"\(meant)\": what is not named as the protocol has it is never sent."
      )
    }
  }

  private func versions(_ discovery: Discovery) throws {
    let versions = discovery.protocolVersions
    let mend =
      "List the versions of the request document that the plugin reads, for example [1, 2, 3], each "
      + "once; this kit knows 1 to 3."
    guard !versions.isEmpty, Set(versions).count == versions.count else {
      throw Finding("`protocol_versions` is \(versions)", mend: mend)
    }
    guard versions.contains(where: (1...3).contains), versions.allSatisfy({ $0 >= 1 }) else {
      throw Finding("`protocol_versions` is \(versions), and none of them exists", mend: mend)
    }
  }

  private func constraints(_ constraints: Constraints) throws {
    func refuse(_ what: String) -> Finding {
      Finding(
        what,
        mend: "Leave out what is not limited; otherwise give limits that some video can meet, in "
          + "seconds, bytes and pixels."
      )
    }
    let durations = [constraints.minDuration, constraints.maxDuration].compactMap { $0 }
    if durations.contains(where: { $0 < 0 }) || durations != durations.sorted() {
      throw refuse("min_duration_s and max_duration_s are \(durations)")
    }
    if let size = constraints.maxSize, size < 1 { throw refuse("max_size is \(size)") }
    for (name, limit) in [
      ("max_count", constraints.maxCount), ("max_width", constraints.maxWidth),
      ("max_height", constraints.maxHeight),
    ] {
      if let limit, limit < 1 { throw refuse("\(name) is \(limit)") }
    }
    for (name, list) in [
      ("video_codecs", constraints.videoCodecs), ("containers", constraints.containers),
    ] {
      guard let list else { continue }
      if list.isEmpty { throw refuse("\(name) is empty, so nothing can be handed off") }
      if let odd = list.first(where: { $0 != $0.lowercased() || $0.isEmpty }) {
        throw refuse("\(name) has \"\(odd)\"; names are as in asset records: h264, mp4")
      }
    }
  }

  private func unknownMessage(_ life: PluginLife) async throws {
    let answer = try await life.link.call(
      "conformance.unknown",
      .object([:]),
      within: life.limits.answer
    )
    if case .error(let failure) = answer, failure.code == -32_601 { return }
    throw Finding(
      "the answer was \(answer)",
      mend:
        "Answer a method that you do not know with the error -32601: a newer broker may send more "
        + "than this one."
    )
  }
}
