import HandoffProtocol

/// What the checks of a configured plugin share.
struct CheckStage: Sendable {
  let plugin: Conformance
  let profile: PluginProfile
  let ledger: CheckLedger

  /// Folders, and a transcript of what is exchanged in them.
  func trial() throws -> Trial {
    Trial(
      stage: self,
      folder: try TrialFolder(in: plugin.folders),
      transcript: Transcript()
    )
  }

  /// One check with a plugin of its own.
  @discardableResult
  func check<Value: Sendable>(
    _ name: CheckName,
    _ body: @Sendable (PluginLife, Trial) async throws -> Value
  ) async throws -> Value? {
    guard wants([name]) else { return nil }
    let trial = try trial()
    return try await trial.live { life in
      try await ledger.check(name, life) { try await body(life, trial) }
    }
  }

  /// Whether one of some checks is to be made.
  func wants(_ names: Set<CheckName>) -> Bool {
    // Of a standing check alone everything is wanted.
    plugin.only.isSubset(of: CheckName.standing) || !plugin.only.isDisjoint(with: names)
  }

  /// Skips a check unless the plugin has named an optional part of the protocol.
  func needs(_ method: MessageMethod) throws {
    guard profile.capabilities.contains(method.rawValue) else {
      throw Skip("optional: `\(method.rawValue)` is not among its capabilities")
    }
  }
}

/// The plugin does not start any more, so nothing else can be checked.
struct StartsNoMore: Error {}

/// One check's folders, over one or several processes of the plugin.
struct Trial: Sendable {
  let stage: CheckStage
  let folder: TrialFolder
  let transcript: Transcript

  /// The plugin's settings.
  var settings: JSONValue {
    if let given = stage.plugin.settings { return given }
    guard stage.profile.isConfigured else { return .null }
    return SettingsProposal(schema: stage.profile.schema).settings(folder: folder.own)
  }

  /// Runs a script with a plugin that has been discovered, and ends it.
  func live<Value: Sendable>(
    _ desk: BrokerDesk = BrokerDesk(),
    _ script: @Sendable (PluginLife) async throws -> Value
  ) async throws -> Value {
    let life = try await PluginLife.start(
      stage.plugin,
      in: folder,
      transcript: transcript,
      desk: desk,
      ledger: stage.ledger
    )
    let outcome = await life.serve { life in
      try await begin(life)
      return try await script(life)
    }
    await stage.plugin.folders.restIfAbandoned()
    life.watch.searchOutput(life.output.text)
    life.watch.searchFiles(folder)
    return try outcome.get()
  }

  private func begin(_ life: PluginLife) async throws {
    do {
      _ = try await life.discover(settings)
    } catch let finding as Finding {
      let complete = await finding.completed(by: life)
      stage.ledger.fault(.startsAgain, complete, transcript)
      throw StartsNoMore()
    }
  }

  /// A request with a token and a video of its own, granted to it by a desk.
  func request(
    _ number: UInt8 = 1,
    version: Int? = nil,
    count: UInt8 = 1,
    grantedBy desk: BrokerDesk
  ) throws -> TrialRequest {
    let token = try TrialRequest.token()
    transcript.conceal(token)
    let request = TrialRequest(
      id: "trial-\(number)",
      token: token,
      videos: try (0..<count).map {
        try TrialVideo(number + 100 * $0, in: folder.grants, stage.plugin.video)
      },
      version: version ?? stage.profile.version
    )
    desk.grant(request.videos, to: token)
    return request
  }
}
