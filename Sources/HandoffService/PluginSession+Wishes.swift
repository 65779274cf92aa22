import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What people want of handoffs that were sent: that they end, or that the receiver is asked about them.
extension PluginSession {
  private static let longestRest: Duration = .seconds(30)

  /// Asks the receiver to give up what people wish cancelled, also what they wished before it ran.
  ///
  /// Each wish is carried by itself: one that is not answered holds up no other.
  func carryWishes(to process: PluginProcess) async {
    await withDiscardingTaskGroup { group in
      var asked: [Handoff.ID: Timestamp] = [:]
      while !Task.isCancelled {
        do {
          let wishes = try await parts.ledger.cancelWishes(destination: settings.name)
          let known = asked
          asked = [:]
          for claimed in wishes {
            let id = claimed.handoff.id
            let earlier = known[id]
            asked[id] = earlier
            // A receiver that has not answered the request yet may not know it: it is asked then.
            if let entry = held.entry(id), !entry.isAnswered { continue }
            guard let wished = claimed.handoff.cancelRequestedAt, wished != earlier else {
              continue
            }
            asked[id] = wished
            group.addTask { await cancel(claimed, process, isRepeated: earlier != nil) }
          }
        } catch {
          parts.logger.error(
            "What is to be cancelled cannot be read",
            [.destination: settings.name.text, .error: "\(error)"]
          )
        }
        await parts.wishes.wait(atMost: Self.longestRest)
      }
    }
  }

  /// Carries one wish; a person who wishes it again has the receiver asked further, and it ended unless
  /// the receiver says that it is at work.
  private func cancel(
    _ claimed: ClaimedHandoff,
    _ process: PluginProcess,
    isRepeated: Bool
  ) async {
    let id = claimed.handoff.id
    do {
      try await ask(toCancel: claimed, process, isRepeated: isRepeated)
    } catch is CancellationError {
      // The plugin's next life is asked.
      return
    } catch let error as ResultError where Self.saysItIsOver(error) {
      // Its result came over the socket a moment before.
      held.entry(id)?.end()
    } catch let error as ResultError where !isRepeated && Self.saysItIsGone(error) {
      logFailure(id, error)
    } catch let error as ResultError {
      logFailure(id, error)
      await endUncertainly(id, .noAnswer)
    } catch {
      logFailure(id, error)
    }
  }

  private func ask(
    toCancel claimed: ClaimedHandoff,
    _ process: PluginProcess,
    isRepeated: Bool
  ) async throws {
    let id = claimed.handoff.id
    let words = held.entry(id)?.words ?? 0
    let reference = HandoffReference(handoffID: id.description, state: claimed.request.state)
    let answer = try await process.cancel(reference)
    parts.logger.info(
      answer == nil
        ? "A receiver cannot be asked to give a handoff up"
        : "A receiver was asked to give a handoff up",
      [.handoffID: id.description, .destination: settings.name.text]
    )
    let knowledge: HandoffKnowledge
    switch answer {
    case nil: return await endUncertainly(id, .cannotBeAsked)
    case .heard where !isRepeated: return
    case .heard: knowledge = try await process.probe(reference)
    case .knows(let known): knowledge = known
    }
    guard knowledge.standing != .unknown else { return await endUncertainly(id, .noAnswer) }
    try await learn(knowledge, of: claimed, since: words)
  }

  /// Ends as cancelled what may still happen.
  private func endUncertainly(_ id: Handoff.ID, _ doubt: CancelDoubt) async {
    do {
      await parts.results.follow(try await parts.ledger.recordUncertainCancel(id, doubt))
      held.entry(id)?.end()
    } catch {
      logFailure(id, error)
    }
  }

  /// The plugin ended before it could answer.
  private static func saysItIsGone(_ error: ResultError) -> Bool {
    error.code == .receiverCrashed || error.code == .destinationUnavailable
  }

  /// Asks what became of a handoff that a person is to decide about, and records it.
  ///
  /// - Returns: what the receiver said; nil where it did not answer.
  func askAgain(
    about claimed: ClaimedHandoff,
    _ process: PluginProcess
  ) async -> HandoffKnowledge.Standing? {
    let id = claimed.handoff.id
    let words = held.entry(id)?.words ?? 0
    let reference = HandoffReference(handoffID: id.description, state: claimed.request.state)
    do {
      let knowledge = try await process.probe(reference)
      if knowledge.standing != .unknown { try await learn(knowledge, of: claimed, since: words) }
      return knowledge.standing
    } catch let error as ResultError where Self.saysItIsOver(error) {
      return .finished
    } catch {
      logFailure(id, error)
      return nil
    }
  }

  /// Records what the receiver knows, and follows what it is at work on.
  private func learn(
    _ knowledge: HandoffKnowledge,
    of claimed: ClaimedHandoff,
    since words: Int
  ) async throws {
    try await parts.results.learn(knowledge, of: claimed, from: settings)
    let id = claimed.handoff.id
    if let entry = held.entry(id) {
      if !isAtWork(knowledge, entry, since: words) { entry.end() }
      return
    }
    let sent = claimed.handoff.submittedAt ?? parts.now()
    let entry = InFlight(
      claimed,
      request: claimed.sent,
      assets: await grantAgain(claimed.handoff),
      ceiling: sent.advanced(by: settings.ceiling)
    )
    guard isAtWork(knowledge, entry, since: 0) else { return }
    entry.setAnswered()
    held.insert(entry)
    revived.continuation.yield(entry)
  }

  /// Follows what was taken up again, each until its attempt has ended.
  func followRevived(_ process: PluginProcess, counting running: Counter) async {
    await withDiscardingTaskGroup { group in
      for await entry in revived.stream {
        group.addTask {
          running.add(1)
          await follow(entry, process)
          running.add(-1)
          parts.claims.signal.signal()
        }
      }
    }
  }
}
