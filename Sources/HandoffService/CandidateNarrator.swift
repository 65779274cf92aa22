import HandoffCore
import HandoffLog
import Paths

/// Logs what becomes of candidates: exactly one record for each change of state.
///
/// A full disk has many exports wait, each tried again and again: that is one cause.
struct CandidateNarrator: Sendable {
  let logger: Logger

  func tell(_ change: CandidateChange) {
    var fields: [LogKey: String] = [
      .exportPath: change.path.displayText, .status: change.state.rawValue,
    ]
    fields[.reason] = change.reason
    switch change.state {
    case .refused: logger.notice("Refused an export", fields)
    case .unreadable:
      logger.warning("An export cannot be taken", fields, cause: Self.unreadable(change))
    case .offline: logger.warning("An export cannot be taken", fields)
    case .imported:
      logger.ended(Self.noSpace, "There is room again: exports are taken")
      logger.ended(
        Self.unreadable(change),
        "An export can be read now",
        [.exportPath: change.path.displayText]
      )
      logger.debug("A candidate moved on", fields)
    // Settling is shown by `why` and `status`; the import itself, and what fails it, where it is made.
    case .noSpace, .waitingQuiet, .openForWriting, .incomplete, .waitingProof, .waitingSidecar,
      .waitingPackage, .importing, .ignored, .unknown:
      logger.debug("A candidate moved on", fields)
    }
  }

  static let noSpace = "no_space"

  private static func unreadable(_ change: CandidateChange) -> String {
    "unreadable \(change.path.displayText)"
  }
}
