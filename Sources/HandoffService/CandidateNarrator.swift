import HandoffCore
import HandoffLog
import Paths

/// Logs what becomes of candidates: exactly one record for each change of state.
struct CandidateNarrator: Sendable {
  let logger: Logger

  func tell(_ change: CandidateChange) {
    var fields: [LogKey: String] = [
      .exportPath: change.path.displayText, .status: change.state.rawValue,
    ]
    fields[.reason] = change.reason
    switch change.state {
    case .refused: logger.notice("Refused an export", fields)
    case .unreadable, .noSpace, .offline: logger.warning("An export cannot be taken", fields)
    // The library or the ledger failed it; without a reason it is under way.
    case .importing where change.reason != nil:
      logger.warning("An import waits for another try", fields)
    // Settling is shown by `why` and `status`; the import itself is logged where it is made.
    case .waitingQuiet, .openForWriting, .incomplete, .waitingProof, .waitingSidecar,
      .waitingPackage, .importing, .ignored, .imported, .unknown:
      logger.debug("A candidate moved on", fields)
    }
  }
}
