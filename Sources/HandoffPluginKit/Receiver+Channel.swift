import HandoffProtocol
import Paths

extension Receiver {
  /// One handoff's way to the broker and to the journal.
  struct Channel: HandoffChannel {
    let receiver: Receiver
    let handoff: ReceivedHandoff

    func resolve(_ identifier: LocalIdentifier) async throws -> GrantedAsset {
      try await receiver.resolve(identifier, for: handoff)
    }

    func register(
      _ name: RenditionName,
      _ path: BytePath,
      _ identifier: LocalIdentifier
    ) async throws -> RegisteredRendition {
      try await receiver.register(name, path, identifier, for: handoff)
    }

    func progress(_ fraction: Double?, _ message: String?) async {
      await receiver.progress(handoff, fraction, message)
    }

    func needsUser(_ need: String) async {
      await receiver.needsUser(handoff, need)
    }

    func record(_ name: String, _ data: JSONValue) async throws {
      try await receiver.record(handoff, name, data)
    }

    func log(_ level: LogLevel, _ message: String) async {
      await receiver.log(level, message)
    }
  }

  private func resolve(
    _ identifier: LocalIdentifier,
    for handoff: ReceivedHandoff
  ) async throws -> GrantedAsset {
    let parameters = ResolveParameters(state: handoff.state, localIdentifier: identifier)
    let answer: JSONValue
    do {
      answer = try await broker.call(.resolveAsset, WireCoder.value(parameters))
    } catch let refusal as RPCMessage.Failure {
      throw refusal.data
        ?? ResultError(
          .accessLimited,
          refusal.message,
          effect: .none,
          localIdentifier: identifier
        )
    }
    let asset = try GrantedAsset(WireCoder.document(ResolvedAsset.self, from: answer), identifier)
    try check.check(asset)
    return asset
  }

  private func register(
    _ name: RenditionName,
    _ path: BytePath,
    _ identifier: LocalIdentifier,
    for handoff: ReceivedHandoff
  ) async throws -> RegisteredRendition {
    let parameters = RegisterParameters(
      state: handoff.state,
      localIdentifier: identifier,
      name: name,
      path: path.lossyText,
      pathBytes: path.base64UnlessText
    )
    do {
      let answer = try await broker.call(.registerAsset, WireCoder.value(parameters))
      return try WireCoder.document(RegisteredRendition.self, from: answer)
    } catch let refusal as RPCMessage.Failure {
      if refusal.code == RPCMessage.Failure.unsupported("").code { throw RegisteringUnsupported() }
      throw refusal.data
        ?? ResultError(
          .libraryUnavailable,
          refusal.message,
          effect: .none,
          retry: .later,
          localIdentifier: identifier
        )
    }
  }

  private func progress(
    _ handoff: ReceivedHandoff,
    _ fraction: Double?,
    _ message: String?
  ) async {
    let moment = ContinuousClock.now
    let pause = Duration.milliseconds(200)
    let endsNeed = active[handoff.id]?.userNeed != nil
    if let last = active[handoff.id]?.lastProgress, moment - last < pause, fraction != 1, !endsNeed
    {
      return
    }
    active[handoff.id]?.lastProgress = moment
    active[handoff.id]?.userNeed = nil
    await tell(
      .progress,
      ProgressParameters(
        state: handoff.state,
        fraction: fraction.map { min(max($0, 0), 1) },
        message: message.map { String($0.prefix(200)) }
      )
    )
  }

  private func needsUser(_ handoff: ReceivedHandoff, _ need: String) async {
    let need = String(need.prefix(200))
    active[handoff.id]?.userNeed = need
    await tell(.progress, ProgressParameters(state: handoff.state, needsUser: need))
  }

  private func record(_ handoff: ReceivedHandoff, _ name: String, _ data: JSONValue) async throws {
    guard var entry = entries[handoff.id] else { throw BrokerGone() }
    entry.stage = JournalEntry.Stage(name: name, data: data, at: now())
    try await journal.store(entry)
    entries[handoff.id]?.stage = entry.stage
  }

  private func log(_ level: LogLevel, _ message: String) async {
    await tell(.log, LogParameters(level: level.rawValue, message: String(message.prefix(2000))))
  }

  /// Tells what needs no answer: that it could not be told is for the process's own log.
  private func tell(_ method: MessageMethod, _ parameters: some Encodable) async {
    do {
      _ = try await broker.call(method, WireCoder.value(parameters))
    } catch is BrokerGone {
      return
    } catch {
      ProcessLog.write("\(method.rawValue) was not taken: \(error)")
    }
  }
}
