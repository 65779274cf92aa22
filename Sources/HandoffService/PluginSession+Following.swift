import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What is done with a handoff from its submission to the end of the attempt.
extension PluginSession {
  /// How often the ledger is looked into: a person may have ended the handoff there.
  private static let lookInterval: Duration = .seconds(30)
  /// The same once its moment has passed, when the ledger is about to end it.
  private static let overdueInterval: Duration = .seconds(1)

  /// Waits for the attempt's end, on either side; asks a receiver that gives no sign of life.
  func follow(_ entry: InFlight, _ process: PluginProcess) async {
    held.insert(entry)
    defer { held.remove(entry) }
    await withDiscardingTaskGroup { group in
      group.addTask { await keepNeed(of: entry) }
      await watch(entry, process)
      group.cancelAll()
    }
  }

  private func watch(_ entry: InFlight, _ process: PluginProcess) async {
    while true {
      let waking = await entry.wait(idle: settings.idle, atMost: untilNextLook(at: entry))
      if waking == .ended { return }
      guard await isOpen(entry, process) else { return }
      if waking == .silent {
        guard await ask(entry, process) else { return }
      }
    }
  }

  private func untilNextLook(at entry: InFlight) -> Duration {
    let left = entry.deadline.since(parts.now())
    return left > .zero ? min(left, Self.lookInterval) : Self.overdueInterval
  }

  /// Whether the ledger still has this attempt open; a receiver whose handoff has ended is told to give
  /// it up, unless a person says that it is done.
  private func isOpen(_ entry: InFlight, _ process: PluginProcess) async -> Bool {
    do {
      guard let handoff = try await parts.ledger.handoff(entry.id) else { return false }
      if handoff.status.isInFlight, handoff.attempts == entry.claimed.handoff.attempts {
        return true
      }
      // Another attempt has the same token, and must not be given up.
      if handoff.status.isFinal, handoff.status != .succeeded { await giveUp(entry, process) }
      return false
    } catch {
      // A ledger that cannot be read says nothing about the receiver's work.
      logFailure(entry.id, error)
      return true
    }
  }

  private func giveUp(_ entry: InFlight, _ process: PluginProcess) async {
    do {
      let answer = try await process.cancel(entry.reference)
      parts.logger.info(
        answer != nil
          ? "A receiver was told to give a handoff up that has ended"
          : "A receiver cannot be told that a handoff has ended",
        [.handoffID: entry.id.description, .destination: settings.name.text]
      )
      // It was done already, or had failed: kept as late.
      if case .knows(let knowledge) = answer, knowledge.standing == .finished, !entry.hasEnded {
        try await parts.results.learn(knowledge, of: entry.claimed, from: settings)
      }
    } catch let error as ResultError where Self.saysItIsOver(error) {
      return
    } catch {
      logFailure(entry.id, error)
    }
  }

  /// Asks what became of a handoff, and records it; true where it is to be followed further.
  private func ask(_ entry: InFlight, _ process: PluginProcess) async -> Bool {
    let knowledge: HandoffKnowledge
    let words = entry.words
    do {
      knowledge = try await process.probe(entry.reference)
    } catch is CancellationError {
      return false
    } catch {
      // A plugin that does not even answer a probe hangs: it is ended, and its next life is asked.
      logFailure(entry.id, error)
      await process.shutdown()
      return false
    }
    do {
      if knowledge.standing != .working {
        try await learn(knowledge, entry)
        return isAtWork(knowledge, entry, since: words)
      }
    } catch let error as ResultError where Self.saysItIsOver(error) {
      // Its result came over the socket a moment before, or it had ended in the ledger.
      return false
    } catch {
      logFailure(entry.id, error)
    }
    entry.giveSign()
    return true
  }

  private func learn(_ knowledge: HandoffKnowledge, _ entry: InFlight) async throws {
    guard knowledge.standing == .unknown else {
      return try await parts.results.learn(knowledge, of: entry.claimed, from: settings)
    }
    let error = ResultError(
      .receiverTimeout,
      "no sign of life for \(settings.idle), and the receiver cannot tell what became of it",
      effect: .unknown
    )
    try await fail(entry, error, side: .receiver, retry: nil)
  }

  /// The ledger did not take an answer because the attempt, or the handoff, had ended before.
  static func saysItIsOver(_ error: ResultError) -> Bool {
    error.code == .expired || error.code == .alreadyConsumed
  }
}
