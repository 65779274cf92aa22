import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Whether a receiver waits for a person, as it is recorded.
extension PluginSession {
  /// Receivers may tell of it as often as they like: so often it is recorded, as it is then.
  private static let restOfNeeds: Duration = .seconds(1)
  private static let longestRestOfNeeds = 15

  /// Records what the receiver of one handoff tells of its need of a person, until the attempt has
  /// ended; what waits for a person holds no slot.
  func keepNeed(of entry: InFlight) async {
    var holdsSlot = true
    var failures = 0
    while !entry.hasEnded, !Task.isCancelled {
      guard entry.takeNews() else {
        await entry.waitForNews()
        continue
      }
      do {
        let waits = try await record(entry.userNeed, of: entry)
        if waits == holdsSlot {
          holdsSlot = !waits
          slots.add(waits ? -1 : 1)
          parts.claims.signal.signal()
        }
        failures = 0
      } catch {
        entry.giveNewsBack()
        failures += 1
        if failures == 1, !Task.isCancelled { logFailure(entry.id, error) }
      }
      let rest = failures == 0 ? Self.restOfNeeds : .seconds(min(failures, Self.longestRestOfNeeds))
      await rested(rest)
    }
    if !holdsSlot { slots.add(1) }
  }

  /// Returns whether the handoff waits for a person now.
  private func record(_ need: String?, of entry: InFlight) async throws -> Bool {
    let before = try await parts.ledger.handoff(entry.id)
    // Another attempt has its own entry.
    guard let before, before.attempts == entry.claimed.handoff.attempts else { return false }
    let handoff =
      if let need {
        try await parts.ledger.recordNeedOfUser(entry.id, need.isEmpty ? nil : need)
      } else {
        try await parts.ledger.recordUserDone(entry.id)
      }
    if handoff.status != before.status || handoff.userNeed != before.userNeed {
      await parts.results.follow(handoff)
    }
    return handoff.status == .needsUser
  }

  /// Waits; the end of the attempt ends that too, as it cancels the task.
  private func rested(_ time: Duration) async {
    await WakeSignal().wait(atMost: time)
  }
}
