package import HandoffCore
package import HandoffProtocol

/// What a result, or a failure that the broker found itself, has changed.
package enum Consumption: Sendable {
  /// It counted; the handoff as it is now. It has ended, or its outcome is unknown, or it is
  /// held as superseded.
  case applied(Handoff)
  /// The attempt failed and left nothing behind; the next one is due then.
  case retried(Handoff, at: Timestamp)
  /// The handoff has ended with another result, or this attempt had its answer. Nothing changed.
  case alreadyConsumed
  /// No handoff has this token. Nothing changed.
  case unknownState
  /// The token belongs to a handoff of another destination. Nothing changed.
  case wrongDestination
  /// The handoff ended without a result (expired, withdrawn, given up), is held because of one that could
  /// not be read, or its destination is not configured any more: kept, and nothing else.
  case late(Handoff)
  /// It is no valid answer to the handoff, which had ended. Nothing changed.
  case malformed(String)
  /// The end of an attempt after which another has begun, or which had its end. Nothing changed.
  case pastAttempt
}

/// A ``Consumption`` before the row is decoded.
enum StoredConsumption: Sendable {
  case applied(HandoffRow)
  case retried(HandoffRow, at: Int64)
  case alreadyConsumed
  case unknownState
  case wrongDestination
  case late(HandoffRow)
  case malformed(String)
  case pastAttempt

  /// - Parameter output: the output of the result that was applied.
  /// - Returns: the same with the handoff as callers know it.
  /// - Throws: ``UnreadableRow``.
  func decoded(output: [String: JSONValue]?) throws -> Consumption {
    switch self {
    case .applied(let row): .applied(try Handoff(row, output: output))
    case .retried(let row, let at):
      .retried(try Handoff(row), at: Timestamp(milliseconds: at))
    case .alreadyConsumed: .alreadyConsumed
    case .unknownState: .unknownState
    case .wrongDestination: .wrongDestination
    case .late(let row): .late(try Handoff(row))
    case .malformed(let fault): .malformed(fault)
    case .pastAttempt: .pastAttempt
    }
  }

  /// The verdict's name in the table of results.
  var verdict: String {
    switch self {
    case .applied: "applied"
    case .retried: "retried"
    case .alreadyConsumed: "already_consumed"
    case .unknownState: "unknown_state"
    case .wrongDestination: "wrong_destination"
    case .late: "late"
    case .malformed: "malformed"
    case .pastAttempt: "past_attempt"
    }
  }
}
