import HandoffProtocol
import SQLite

/// Deadlines are durations, written down as moments of the wall clock: where that is set, they move with
/// it.
///
/// Only `publish_at` is meant as a moment, and an expiry that the sender gave as one: they stay.
extension LedgerTransaction {
  /// Looks whether the wall clock was set since the last look, also by an earlier broker.
  func followClock() throws {
    guard let bootClock else { return }
    let moment = now
    let offset = moment - bootClock.elapsed()
    if let known = clockOffset {
      guard abs(offset - known) > Self.tolerance else { return }
      try move(deadlinesBy: offset - known)
    } else {
      try takeUp(offset, at: moment, of: bootClock.boot)
    }
    clockOffset = offset
    let note = Value.text("\(offset) \(bootClock.boot)")
    try connection.run(Self.setNote, [.text(Self.name), note])
  }

  /// The two clocks are not read at one instant, and a wall clock that is steered runs with the other.
  private static let tolerance: Int64 = 1_000

  /// The first look of a broker: since the last one of this machine's start the clock may have been set.
  ///
  /// After another start only the wall clock is left. If it has gone back behind what was recorded, the
  /// time from then to now is not known, and counts as none: more than their whole time no deadline gets.
  private func takeUp(_ offset: Int64, at moment: Int64, of boot: String) throws {
    let note = try connection.first(Self.readNote, [.text(Self.name)]) { row in try row.text(0) }
    let words = note?.split(separator: " ", maxSplits: 1) ?? []
    if words.count == 2, words[1] == boot, let known = Int64(words[0]) {
      if abs(offset - known) > Self.tolerance { try move(deadlinesBy: offset - known) }
      return
    }
    let last = try connection.first(Self.readLastMoment) { row in try row.integer(0) }
    if let last, moment < last { try move(deadlinesBy: moment - last) }
  }

  private func move(deadlinesBy step: Int64) throws {
    // A moment at the end of all time stays there.
    let latest = Int64.max - abs(step)
    try connection.run(Self.moveHandoffs, [.integer(step), .integer(latest)])
    try connection.run(Self.moveNotices, [.integer(step), .integer(latest)])
    // Who waits for a moment to publish, which stays where it is, has another time to wait.
    for name in try connection.rows(Self.waiting, [], { row in try row.text(0) }) { touch(name) }
    try movePlaces(by: step, latest: latest)
    try moveTurns(by: step, latest: latest)
    let seconds = Duration.milliseconds(step)
    try record(Event(at: now, kind: "clock_set", detail: "by \(seconds); deadlines move with it"))
  }

  private static let name = "clock"
  private static let readNote = SQL("SELECT value FROM meta WHERE name = ?1")
  private static let setNote = SQL(
    "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2"
  )
  private static let readLastMoment = SQL("SELECT at FROM events ORDER BY seq DESC LIMIT 1")
  private static let waiting = SQL(
    "SELECT DISTINCT destination FROM handoffs WHERE status = 'pending'"
  )
  private static let moveHandoffs = SQL(
    """
    UPDATE handoffs SET
      expires_at = iif (is_expiry_moment, expires_at, min (expires_at, ?2) + ?1),
      ceiling_at = min (ceiling_at, ?2) + ?1, lease_until = min (lease_until, ?2) + ?1,
      first_attempt_at = min (first_attempt_at, ?2) + ?1,
      due_at = iif (waiting_reason IS 'publish_at', due_at, min (due_at, ?2) + ?1),
      waiting_until = iif (waiting_reason IS 'publish_at', waiting_until,
        min (waiting_until, ?2) + ?1)
    WHERE finished_at IS NULL
    """
  )
  private static let moveNotices = SQL(
    """
    UPDATE notices SET due_at = min (due_at, ?2) + ?1,
      first_attempt_at = min (first_attempt_at, ?2) + ?1
    WHERE state = 'pending'
    """
  )
}
