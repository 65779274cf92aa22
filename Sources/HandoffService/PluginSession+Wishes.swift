import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What people want of handoffs that were sent: that they end, or that the receiver is asked about them.
extension PluginSession {
  private static let longestRest: Duration = .seconds(30)

  /// Asks the receiver to give up what people wish cancelled, also what they wished before it ran.
  func carryWishes(to process: PluginProcess) async {
    var asked: [Handoff.ID: Timestamp] = [:]
    while !Task.isCancelled {
      do {
        let wishes = try await parts.ledger.cancelWishes(destination: settings.name)
        let known = asked
        asked = [:]
        for claimed in wishes {
          let id = claimed.handoff.id
          guard known[id] == nil || known[id] != claimed.handoff.cancelRequestedAt else {
            asked[id] = known[id]
            continue
          }
          // A receiver that has not answered the request yet may not know it: it is asked then.
          if let entry = held.entry(id), !entry.isAnswered { continue }
          asked[id] = claimed.handoff.cancelRequestedAt
          await cancel(claimed, process)
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

  private func cancel(_ claimed: ClaimedHandoff, _ process: PluginProcess) async {
    let id = claimed.handoff.id
    let reference = HandoffReference(handoffID: id.description, state: claimed.request.state)
    do {
      let knowledge = try await process.cancel(reference)
      parts.logger.info(
        knowledge == nil
          ? "A receiver cannot be asked to give a handoff up"
          : "A receiver was asked to give a handoff up",
        [.handoffID: id.description, .destination: settings.name.text]
      )
      if let knowledge, knowledge.standing != .unknown {
        try await learn(knowledge, of: claimed)
      } else {
        await parts.results.follow(try await parts.ledger.recordUncertainCancel(id))
        held.entry(id)?.end()
      }
    } catch let error as ResultError where Self.saysItIsOver(error) {
      // Its result came over the socket a moment before.
      held.entry(id)?.end()
    } catch {
      logFailure(id, error)
    }
  }

  /// Asks what became of a handoff whose outcome is unknown, and records it.
  func askAgain(about claimed: ClaimedHandoff, _ process: PluginProcess) async {
    let id = claimed.handoff.id
    let reference = HandoffReference(handoffID: id.description, state: claimed.request.state)
    do {
      let knowledge = try await process.probe(reference)
      if knowledge.standing != .unknown { try await learn(knowledge, of: claimed) }
    } catch let error as ResultError where Self.saysItIsOver(error) {
      return
    } catch {
      logFailure(id, error)
    }
  }

  /// Records what the receiver knows, and follows what it is at work on.
  private func learn(_ knowledge: HandoffKnowledge, of claimed: ClaimedHandoff) async throws {
    try await parts.results.learn(knowledge, of: claimed, from: settings)
    let id = claimed.handoff.id
    if let entry = held.entry(id) {
      if !isAtWork(knowledge, entry) { entry.end() }
      return
    }
    let sent = claimed.handoff.submittedAt ?? parts.now()
    let entry = InFlight(
      claimed,
      request: claimed.sent,
      assets: await grantAgain(claimed.handoff),
      ceiling: sent.advanced(by: settings.ceiling)
    )
    guard isAtWork(knowledge, entry) else { return }
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
