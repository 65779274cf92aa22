import HandoffProtocol
import LinuxSystem

/// `status` with checks: what a destination looks at for `handoff doctor`.
struct LookingChecks: Sendable {
  let stage: CheckStage

  func run(_ life: PluginLife, _ trial: Trial) async throws {
    let before = try FolderPrint(trial.folder)
    let answer = try await life.link.call(
      MessageMethod.status.rawValue,
      .object(["checks": .bool(true)]),
      within: life.limits.answer * 2
    )
    guard case .result(let value) = answer else {
      try stage.needs(.status)
      throw Finding(
        "an error, though `status` without checks is answered",
        mend: "Answer `status` also where it has parameters; what you do not look at, leave out."
      )
    }
    guard value["checks"] ?? .null != .null else {
      throw Skip("optional: it looks at nothing")
    }
    let status = try PluginLife.document(StatusAnswer.self, value, "the answer to `status`")
    for check in status.checks ?? [] where check.name.isEmpty || check.detail.isEmpty {
      throw Finding(
        "a check without a `name` or a `detail`",
        mend: "Say in a word what was looked at, and in a sentence what was found."
      )
    }
    let mend = "Only look: publish nothing, change no file, and ask for no asset."
    if await life.unwanted(.result) != nil {
      throw Finding("a result came after `status`", mend: mend)
    }
    if let changed = try before.change(in: trial.folder) {
      throw Finding("\(changed) was changed by `status` with checks", mend: mend)
    }
  }
}

/// `verify`: looking again at a handoff that succeeded.
struct VerifyingChecks: Sendable {
  let stage: CheckStage
  let life: PluginLife
  let trial: Trial

  func run(_ request: TrialRequest, _ result: HandoffResult) async throws {
    guard stage.profile.capabilities.contains(MessageMethod.verify.rawValue) else {
      return stage.ledger.skip(
        [.verify, .verifyMissing],
        "optional: `verify` is not among its capabilities"
      )
    }
    guard case .success(let output) = result.outcome else { return }
    try await stage.ledger.check(.verify, life) { try await there(request, output) }
    try await stage.ledger.check(.verifyMissing, life) { try await missing(request, output) }
  }

  private func there(_ request: TrialRequest, _ output: [String: JSONValue]) async throws {
    let before = try FolderPrint(trial.folder)
    for asset in try await ask(request.id, request.videos, output)
    where ![.intact, .present].contains(asset.standing) {
      throw Finding(
        "what it has just done is \(asset.standing.rawValue)"
          + (asset.message.map { ": \($0)" } ?? ""),
        mend:
          "Find what was done by the `output` of the result, by the handoff's id or by the digest, and "
          + "say intact (its bytes are right) or present (its size is)."
      )
    }
    if let changed = try before.change(in: trial.folder) {
      throw Finding(
        "\(changed) was changed by `verify`",
        mend: "Only look: `verify` changes nothing and is no handoff."
      )
    }
  }

  /// The same output, and a video that it was never given.
  private func missing(_ request: TrialRequest, _ output: [String: JSONValue]) async throws {
    let other = try TrialVideo(77, in: trial.folder.grants, nil)
    for asset in try await ask("trial-never", [other], output) where asset.standing == .intact {
      throw Finding(
        "a video that it was never given is intact",
        mend:
          "Compare what is there with the digest that `verify` names, and say damaged, missing or "
          + "unknown where it is not that."
      )
    }
  }

  private func ask(
    _ id: String,
    _ videos: [TrialVideo],
    _ output: [String: JSONValue]
  ) async throws -> [VerifiedAsset] {
    let delivered = videos.map {
      DeliveredAsset(localIdentifier: $0.identifier, sha256: $0.digest, size: $0.size)
    }
    let parameters = VerifyParameters(handoffID: id, assets: delivered, output: output)
    let answer = try await life.ask(.verify, WireCoder.value(parameters), VerifyAnswer.self)
    guard Set(answer.assets.map(\.localIdentifier)) == Set(videos.map(\.identifier)),
      answer.assets.count == videos.count
    else {
      throw Finding(
        "the answer is not about each asset that was asked about, once",
        mend: "Answer with one element of `assets` for each that `verify` names."
      )
    }
    return answer.assets
  }
}
