import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What is done first in each life of a plugin.
extension PluginSession {
  /// Asks a plugin that has just started what it knows of everything that is open; returns what it is
  /// still working on.
  func reconcile(_ process: PluginProcess) async throws -> [InFlight] {
    let open = try await parts.ledger.openHandoffs(destination: settings.name)
    guard !open.isEmpty else { return [] }
    var entries: [String: InFlight] = [:]
    for claimed in open {
      let sent = claimed.handoff.submittedAt ?? parts.now()
      let entry = InFlight(
        claimed,
        request: claimed.sent,
        assets: await grantAgain(claimed.handoff),
        ceiling: sent.advanced(by: settings.ceiling)
      )
      // Its request was answered in an earlier life, or is asked about now.
      entry.setAnswered()
      entries[claimed.handoff.id.description] = entry
      held.insert(entry)
    }
    let asked = open.compactMap { entries[$0.handoff.id.description]?.parameters }
    var working: [InFlight] = []
    for knowledge in try await process.reconcile(asked) {
      guard let entry = entries[knowledge.handoffID] else { continue }
      if await take(knowledge, entry) {
        working.append(entry)
      } else {
        held.remove(entry)
      }
    }
    return working
  }

  /// Records what the receiver said; true where the handoff is to be followed.
  private func take(_ knowledge: HandoffKnowledge, _ entry: InFlight) async -> Bool {
    let wasInFlight = entry.claimed.handoff.status.isInFlight
    do {
      if knowledge.standing != .unknown {
        try await parts.results.learn(knowledge, of: entry.claimed, from: settings)
      } else if wasInFlight {
        try await parts.results.fail(entry.id, Self.interrupted, side: .receiver, retry: nil)
      }
      return isAtWork(knowledge, entry, since: 0)
    } catch let error as ResultError where Self.saysItIsOver(error) {
      // Its result came over the socket a moment before, or it had ended in the ledger.
      return false
    } catch {
      // One handoff must not keep the plugin from the others: it is asked again when it is silent.
      logFailure(entry.id, error)
      return wasInFlight
    }
  }

  /// Whether the receiver holds it still, at work or waiting for a person; what it has told since it was
  /// asked, counted in words, is newer than its answer.
  func isAtWork(_ knowledge: HandoffKnowledge, _ entry: InFlight, since words: Int) -> Bool {
    switch knowledge.standing {
    case .working:
      entry.learn(need: nil, since: words)
      return true
    case .needsUser:
      entry.learn(need: knowledge.message ?? "", since: words)
      return true
    case .notReceived, .finished, .unknown: return false
    }
  }

  private static let interrupted = ResultError(
    .interrupted,
    "the receiver cannot tell what became of it",
    effect: .unknown,
    remedy: "look at the destination, then `handoff adopt`, `retry` or `cancel`"
  )

  /// The paths that the handoff had before, since a receiver may go on with it; none where they are not
  /// to be had now, for what the receiver knows still counts.
  func grantAgain(_ handoff: Handoff) async -> [GrantedAsset] {
    do {
      let outcome = try await parts.delivery.prepare(handoff, constraints: Constraints())
      guard case .ready(let assets) = outcome else { return [] }
      return assets
    } catch {
      logFailure(handoff.id, error)
      return []
    }
  }

  /// Gives up on what was submitted to a receiver that cannot be asked any more: a person decides, or
  /// the receiver's next life that can be asked.
  func loseTrack(_ reason: ResultError) async {
    let error = ResultError(
      reason.code,
      "the receiver cannot be asked what became of it: \(reason.message)",
      effect: .unknown,
      remedy: Self.interrupted.remedy
    )
    do {
      for claimed in try await parts.ledger.openHandoffs(destination: settings.name)
      where claimed.handoff.status.isInFlight {
        try await parts.results.fail(claimed.handoff.id, error, side: .broker, retry: nil)
      }
    } catch {
      parts.logger.error(
        "What was submitted stays as it is",
        [.destination: settings.name.text, .error: "\(error)"]
      )
    }
  }
}
