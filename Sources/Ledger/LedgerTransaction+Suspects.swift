import HandoffCore
import HandoffProtocol
import SQLite

/// A handoff that was in flight when the broker or its receiver crashed.
struct Suspect: Hashable, Sendable {
  var crashes: Int64
  var isGivenUp: Bool
}

/// Blame for crashes, and what follows from it.
///
/// Every handoff that was claimed in the life that crashed, and was in flight then, gets a part of the
/// blame. From then on it is a suspect: its next try comes later each time, and suspects are tried one
/// at a time. So the one that does it is alone when it does it again, and those beside it end well and
/// are cleared.
extension LedgerTransaction {
  /// How long a suspect that does not end keeps the others waiting.
  private static let turn: Int64 = 60_000
  private static let longestDelay: Int64 = 900_000

  /// Puts a crash down to a handoff, unless nothing is ever given up.
  func blame(_ row: HandoffRow, _ kind: String) throws {
    guard crashLimit > 0 else { return }
    try connection.run(SuspectQueries.blame, [.integer(row.id), .integer(now)])
    let crashes = (suspects[row.id]?.crashes ?? 0) + 1
    suspects[row.id] = Suspect(crashes: crashes, isGivenUp: false)
    try record(kind, of: row, detail: "crash \(crashes) with it in flight")
  }

  /// How a suspect that comes back waits: longer with each crash; nil for any other handoff.
  func suspectWait(_ id: Int64) -> Handoff.Waiting? {
    guard let suspect = suspects[id] else { return nil }
    let delay = min(1000 << min(suspect.crashes - 1, 20), Self.longestDelay)
    return .init(.backoff, until: Timestamp(milliseconds: now + delay))
  }

  /// Whether a due handoff may be claimed now; a suspect that may not has got its waiting.
  func isItsTurn(_ row: inout HandoffRow) throws -> Bool {
    guard let suspect = suspects[row.id] else { return true }
    if !isTooOften(suspect.crashes) {
      let others = try connection.first(
        SuspectQueries.others,
        [.integer(row.id), .integer(now - Self.turn)]
      ) { _ in true }
      if others == nil {
        try connection.run(SuspectQueries.setTried, [.integer(row.id), .integer(now)])
        return true
      }
      try connection.run(SuspectQueries.hold, [.integer(row.id)])
    }
    // One that is given up is so at the next look for what is due.
    let until = Timestamp(milliseconds: now + Self.turn)
    row.wait(.init(.backoff, until: until), now: now)
    try save(row, from: .pending)
    return false
  }

  /// Called with each move: a suspect that has ended, or that a person wants tried, is none any more; but
  /// for one that has failed since it was given up, until a person has seen to it.
  func followSuspect(_ row: HandoffRow, _ event: HandoffEvent) throws {
    guard let suspect = suspects[row.id] else { return }
    let isAtRest = row.status.isFinal && !(suspect.isGivenUp && row.status == .failed)
    if event == .retry || isAtRest {
      try connection.run(SuspectQueries.clear, [.integer(row.id)])
      suspects[row.id] = nil
    }
    guard !row.status.isInFlight, row.status != .leased else { return }
    let next = try connection.first(SuspectQueries.nextHeld, [.integer(row.id)]) { row in
      (id: try row.integer(0), destination: try row.text(1))
    }
    guard let next else { return }
    try connection.run(SuspectQueries.release, [.integer(next.id)])
    try connection.run(SuspectQueries.makeDue, [.integer(next.id), .integer(now)])
    touch(next.destination)
  }

  /// Ends suspects that came back once too often, and returns them.
  func giveUpSuspects() throws -> [HandoffRow] {
    let ids = suspects.filter { !$1.isGivenUp && isTooOften($1.crashes) }.keys.sorted()
    var ended: [HandoffRow] = []
    for id in ids {
      guard var row = try optionalRow(id), row.status == .pending else { continue }
      try giveUp(&row, .failure(.none, retry: false), effect: .none)
      ended.append(row)
    }
    return ended
  }

  /// A receiver, or the broker itself, that crashes whenever it is asked about a handoff cannot be asked
  /// about it any more.
  func isBeyondAsking(_ id: Int64) -> Bool {
    suspects[id].map { isTooOften($0.crashes - 1) } ?? false
  }

  /// Nobody is asked about it any more, and it is tried no more, until a person says so.
  func giveUpAsking(_ row: inout HandoffRow) throws {
    try giveUp(&row, .loseTrack, effect: .unknown)
  }

  private func giveUp(_ row: inout HandoffRow, _ event: HandoffEvent, effect: Effect) throws {
    let crashes = suspects[row.id]?.crashes ?? 0
    suspects[row.id]?.isGivenUp = true
    try connection.run(SuspectQueries.giveUp, [.integer(row.id), .integer(now)])
    let error = ResultError(
      .receiverCrashed,
      "given up after \(crashes) crashes with it in flight",
      effect: effect,
      retry: .afterFix,
      remedy: effect == .none
        ? "look into the logs for what crashed, then `handoff retry h\(row.id)`"
        : "look at the destination, then `handoff adopt`, `retry` or `cancel` h\(row.id)"
    )
    try move(&row, event, kind: "given_up", detail: "after \(crashes) crashes") { row in
      row.error = HandoffRow.StoredError(error, .broker)
      if row.status.isFinal { row.result = "failure" }
    }
  }

  private func isTooOften(_ crashes: Int64) -> Bool {
    crashLimit > 0 && crashes >= Int64(crashLimit)
  }

  /// All suspects, as the tables have them.
  func readSuspects() throws -> [Int64: Suspect] {
    var found: [Int64: Suspect] = [:]
    try connection.forEach(SuspectQueries.all) { row in
      found[try row.integer(0)] = Suspect(
        crashes: try row.integer(1),
        isGivenUp: !row.isNull(2)
      )
    }
    return found
  }
}

extension LedgerTransaction {
  /// The turns are durations: where the clock is set, they move with it.
  func moveTurns(by step: Int64, latest: Int64) throws {
    try connection.run(SuspectQueries.move, [.integer(step), .integer(latest)])
  }
}

private enum SuspectQueries {
  static let move = SQL("UPDATE suspects SET tried_at = min (tried_at, ?2) + ?1")
  static let all = SQL("SELECT handoff, crashes, given_up_at FROM suspects")
  static let blame = SQL(
    """
    INSERT INTO suspects (handoff, crashes, last_at) VALUES (?1, 1, ?2)
    ON CONFLICT (handoff) DO UPDATE SET crashes = crashes + 1, last_at = ?2, is_held = 0,
      given_up_at = NULL
    """
  )
  static let others = SQL(
    """
    SELECT 1 FROM suspects AS s JOIN handoffs AS h ON h.id = s.handoff
    WHERE s.handoff <> ?1 AND s.tried_at > ?2
      AND h.status IN ('leased', 'submitted', 'accepted') LIMIT 1
    """
  )
  static let setTried = SQL("UPDATE suspects SET tried_at = ?2, is_held = 0 WHERE handoff = ?1")
  static let hold = SQL("UPDATE suspects SET is_held = 1 WHERE handoff = ?1")
  static let release = SQL("UPDATE suspects SET is_held = 0 WHERE handoff = ?1")
  static let clear = SQL("DELETE FROM suspects WHERE handoff = ?1")
  static let giveUp = SQL(
    "UPDATE suspects SET given_up_at = ?2, is_held = 0 WHERE handoff = ?1"
  )
  static let nextHeld = SQL(
    """
    SELECT s.handoff, h.destination FROM suspects AS s JOIN handoffs AS h ON h.id = s.handoff
    WHERE s.is_held = 1 AND s.handoff <> ?1 AND h.status = 'pending'
    ORDER BY s.last_at, s.handoff LIMIT 1
    """
  )
  static let makeDue = SQL(
    """
    UPDATE handoffs SET waiting_reason = NULL, waiting_until = NULL, due_at = ?2
    WHERE id = ?1 AND status = 'pending' AND waiting_reason = 'backoff'
    """
  )
}
