import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

extension ClaimLoop {
  /// Gives a claim back under which nothing was sent, as soon as the ledger takes it: an error of the disk or
  /// of the ledger leaves no handoff claimed by nobody until its lease is over.
  ///
  /// A handoff that was submitted, or has ended, is not touched. Where the service stops first, the next
  /// start gives the claim back.
  func giveBack(_ claimed: ClaimedHandoff) async {
    let id = claimed.handoff.id
    let fields: [LogKey: String] = [
      .handoffID: id.description, .destination: destination.text,
    ]
    do {
      try await LastingWrite(stop: stop, logger: logger)
        .run("A claim waits to be given back", fields) {
          let waiting = Handoff.Waiting(.backoff, until: now().advanced(by: Self.returnWait))
          try await ledger.release(id, leaseID: claimed.leaseID, waiting: waiting)
        }
    } catch LedgerError.leaseLost {
      // It went on: only its answer could not be recorded, or it was given back already.
    } catch {
      logger.error(
        "A claim could not be given back",
        fields.merging([.error: "\(error)"]) { first, _ in first }
      )
    }
  }

  /// What went wrong once may do so again at once.
  private static let returnWait: Duration = .seconds(1)
}
