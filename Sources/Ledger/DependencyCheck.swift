import HandoffCore
import HandoffProtocol
import SQLite

/// How it stands with what a handoff is ordered after.
enum Dependency {
  /// Everything has succeeded, and the rendition that is to be given is there.
  case met
  /// Some handoff that may still succeed is open.
  case open
  /// There is no handoff that it could wait for.
  case absent(ResultError)
  /// What it waits for has ended otherwise than with success, or has left no rendition.
  case failed(ResultError)
}

/// Looks at what a handoff is ordered after, in whatever transaction.
struct DependencyCheck {
  let connection: Connection
  let rule: HandingOrder.Rule

  /// One asset of the handoff.
  struct Member {
    let row: Int64
    let name: String
  }

  /// Looks at every asset and everything that it is ordered after.
  ///
  /// - Parameters:
  ///   - members: the handoff's assets.
  ///   - handoff: its own, to name it in the remedy; nil before it is made.
  ///   - planned: destinations to which a handoff of them is about to be made.
  /// - Returns: the worst of them; for one that has failed, with the reason.
  /// - Throws: ``SQLiteError``.
  func standing(
    of members: [Member],
    handoff: Handoff.ID?,
    planned: Set<DestinationName> = []
  ) throws -> Dependency {
    var isOpen = false
    var absent: ResultError?
    for member in members {
      for destination in rule.after {
        switch try predecessor(of: member.row, at: destination) {
        case .succeeded: continue
        case .open: isOpen = true
        case nil where planned.contains(destination): isOpen = true
        case nil: absent = absent ?? Self.absence(of: member, at: destination, handoff)
        case .ended(let ended):
          guard !planned.contains(destination) else {
            isOpen = true
            continue
          }
          return .failed(Self.failure(ended, of: member, at: destination, handoff))
        }
      }
    }
    if let absent { return .absent(absent) }
    if isOpen { return .open }
    return try missingRendition(of: members, handoff).map(Dependency.failed) ?? .met
  }

  private enum Predecessor {
    case succeeded
    case open
    case ended(Ended)
  }

  private struct Ended {
    let id: Handoff.ID
    let status: HandoffStatus
    let code: String?
    let message: String?
    let effect: String?
  }

  /// The handoff of an asset that counts: one that has succeeded, else one that is open, else the newest.
  private func predecessor(
    of asset: Int64,
    at destination: DestinationName
  ) throws -> Predecessor? {
    let values: [Value] = [.integer(asset), .text(destination.text)]
    let found = try connection.first(Self.newest, values) { row in
      let id = try row.integer(0)
      guard let status = HandoffStatus(rawValue: try row.text(1)) else {
        throw UnreadableRow(id: id, column: "status")
      }
      return Ended(
        id: Handoff.ID(row: id),
        status: status,
        code: try row.optionalText(2),
        message: try row.optionalText(3),
        effect: try row.optionalText(4)
      )
    }
    if found?.status == .succeeded { return .succeeded }
    // Its row may be gone, and one that was made on purpose since may have failed.
    if try connection.first(Self.past, values, { _ in true }) == true { return .succeeded }
    guard let found else { return nil }
    return found.status.isFinal ? .ended(found) : .open
  }

  private func missingRendition(
    of members: [Member],
    _ handoff: Handoff.ID?
  ) throws -> ResultError? {
    guard let name = rule.rendition else { return nil }
    for member in members {
      let values: [Value] = [.integer(member.row), .text(name.text)]
      guard try connection.first(Self.rendition, values, { _ in true }) != true else { continue }
      let after = rule.after.map(\.text).joined(separator: ", ")
      let why = rule.after.isEmpty ? "" : ", though \(after) succeeded"
      let maker = rule.after.last?.text ?? "the destination that makes it"
      return Self.error(
        "the asset has no rendition \(name)\(why)",
        "`handoff send \(member.name) --to \(maker) --again` has it made anew"
          + Self.retry(handoff, ", and `handoff retry %` then hands it off"),
        member
      )
    }
    return nil
  }

  // MARK: Words

  private static func absence(
    of member: Member,
    at destination: DestinationName,
    _ handoff: Handoff.ID?
  ) -> ResultError {
    error(
      "the asset was not handed off to \(destination), which has to succeed first",
      "`handoff send \(member.name) --to \(destination)` first"
        + retry(handoff, ", then `handoff retry %`"),
      member
    )
  }

  private static func failure(
    _ ended: Ended,
    of member: Member,
    at destination: DestinationName,
    _ handoff: Handoff.ID?
  ) -> ResultError {
    var reason =
      "\(ended.id) to \(destination), which has to succeed first, is \(ended.status.rawValue)"
    if let code = ended.code { reason += ": \(code)" }
    if let message = ended.message, !message.isEmpty { reason += ": \(message.prefix(200))" }
    let remedy: String
    if ended.status == .failed {
      remedy = "`handoff retry \(ended.id)`"
    } else {
      let again = ended.effect ?? "none" == "none" ? "" : " --again"
      remedy = "`handoff send \(member.name) --to \(destination)\(again)`"
    }
    return error(reason, remedy + retry(handoff, ", then `handoff retry %`"), member)
  }

  private static func retry(_ handoff: Handoff.ID?, _ words: String) -> String {
    handoff.map { words.replacing("%", with: $0.description) } ?? ""
  }

  private static func error(_ message: String, _ remedy: String, _ member: Member) -> ResultError {
    ResultError(
      .dependencyFailed,
      message,
      effect: .none,
      retry: .afterFix,
      remedy: remedy,
      localIdentifier: LocalIdentifier(member.name)
    )
  }

  private static let newest = SQL(
    """
    SELECT h.id, h.status, h.error_code, h.error_message, h.error_effect
    FROM handoff_assets AS ha JOIN handoffs AS h ON h.id = ha.handoff
    WHERE ha.asset = ?1 AND h.destination = ?2
    ORDER BY h.status = 'succeeded' DESC, h.finished_at IS NULL DESC, h.id DESC LIMIT 1
    """
  )
  private static let past = SQL(
    "SELECT 1 FROM past_handoffs WHERE asset = ?1 AND destination = ?2 AND status = 'succeeded'"
  )
  private static let rendition = SQL("SELECT 1 FROM renditions WHERE asset = ?1 AND name = ?2")
}
