import HandoffControl
import HandoffCore
import HandoffProtocol

/// Where a handoff stands, in a sentence: what it waits for, until when, and what a person can do.
struct WaitingSentence {
  let report: HandoffReport
  let standing: DestinationStanding
  /// Else nothing moves, whatever it waits for.
  let hasBroker: Bool

  var text: String {
    let words = "\(report.id) to \(report.destination) \(standingWords)"
    guard !hasBroker, !report.status.isFinal else { return words }
    return words + "; no broker runs: `handoff serve` starts it"
  }

  private var standingWords: String {
    switch report.status {
    case .pending: report.waiting.map { waits($0.reason, $0.until) } ?? "is due"
    case .leased: "is about to be submitted"
    case .submitted: "was sent, and its receiver has not answered yet"
    case .accepted: "is with its receiver"
    case .needsUser:
      "waits for a person at the destination" + (report.userNeed.map { ": \($0)" } ?? "")
    case .outcomeUnknown:
      "has an unknown outcome: look at the destination, then `handoff adopt`, `retry` or `cancel "
        + "\(report.id)`"
    case .succeeded, .cancelled, .refused, .failed, .expired:
      "has ended: \(report.status.rawValue)" + (report.error.map { ": \($0.message)" } ?? "")
    }
  }

  private func waits(_ reason: WaitingReason, _ until: Timestamp?) -> String {
    let moment = until?.inHostZone ?? ""
    return switch reason {
    case .approval: approval
    case .after:
      "waits until its asset has succeeded at the destinations named in `after`; `handoff handoffs` "
        + "shows how far they are"
    case .publishAt:
      "is held until \(moment), as its sender asked; `handoff cancel \(report.id)` ends it"
    case .quota:
      "waits for the destination's quota, which has a place again at \(moment); a larger `quota` in the "
        + "configuration lets it go sooner"
    case .paused:
      "waits because its destination is paused; `handoff resume \(report.destination)` lets it go"
    case .circuitOpen:
      "waits because its destination fails with everything and is left alone"
        + (until == nil ? "" : " until \(moment)") + cause
        + "; `handoff doctor` helps to find out why"
    case .backoff: backoff(until, moment)
    case .slot:
      "is due and waits for its turn: the destination does as many at once as its `concurrency` says"
    case .superseded:
      "is held because its export was exported again; `handoff retry \(report.id)` lets it go, "
        + "`handoff cancel \(report.id)` ends it"
    case .libraryUnavailable:
      "waits because the library is not there; it goes on by itself when it is back"
    case .destinationUnknown:
      "waits because \(report.destination) is not configured any more: configure it again, or `handoff "
        + "cancel \(report.id)`"
    }
  }

  private var approval: String {
    let digest = report.approval?.digest.hex.prefix(16) ?? ""
    let again =
      report.approval?.voidedAt.map { moment in
        "it was approved, but at \(moment.inHostZone) something else was found in its place; "
      } ?? ""
    return
      "waits for a person: \(again)`handoff approve \(report.id) --expect \(digest)` lets it go"
  }

  private func backoff(_ until: Timestamp?, _ moment: String) -> String {
    if standing.condition == .down, until == standing.until {
      let time = until == nil ? "" : "; it is tried again at \(moment)"
      return "waits because its destination is down\(cause)\(time)"
    }
    let error = report.error.map { " after \($0.code): \($0.message)" } ?? ""
    return "is tried again at \(moment)\(error); `handoff cancel \(report.id)` ends it"
  }

  /// Why the destination is not up.
  private var cause: String { standing.detail.map { " (\($0))" } ?? "" }
}
