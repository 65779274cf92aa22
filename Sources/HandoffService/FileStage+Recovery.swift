import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// What a broker before this one had begun.
extension FileStage {
  /// Decides each that is open, and clears away what earlier deliveries have left.
  func recover() async {
    do {
      var undecided: Set<String> = []
      for claimed in try await ledger.openHandoffs(destination: settings.name) {
        let id = claimed.handoff.id
        do {
          if try await !decide(claimed) { undecided.insert(id.description) }
        } catch {
          report(id, error)
          undecided.insert(id.description)
        }
      }
      await receiver.sweep(keeping: undecided)
    } catch {
      logger.error(
        "What was open at a destination cannot be read",
        [.destination: settings.name.text, .error: "\(error)"]
      )
    }
  }

  /// Whether it is known now what became of a delivery.
  private func decide(_ claimed: ClaimedHandoff) async throws -> Bool {
    let id = claimed.handoff.id
    switch await receiver.standing(of: id.description) {
    case .delivered(let output):
      let result = HandoffResult(state: claimed.request.state, outcome: .success(output: output))
      try await record(result, of: id)
      return true
    case .notDelivered where claimed.handoff.status.isInFlight:
      try await results.fail(id, Self.interrupted, side: .broker, retry: settings.retry)
      return true
    case .unknown(let reason) where claimed.handoff.status.isInFlight:
      let error = ResultError(
        .interrupted,
        "the broker ended while it copied, and \(reason)",
        effect: .unknown,
        remedy: "look into the inbox, then `handoff adopt`, `retry` or `cancel`"
      )
      try await results.fail(id, error, side: .broker, retry: nil)
      return false
    case .notDelivered, .unknown:
      // A person was asked already, and decides.
      return false
    }
  }

  private static let interrupted = ResultError(
    .interrupted,
    "the broker ended while it copied",
    effect: .none,
    retry: .later
  )
}
