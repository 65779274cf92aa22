import HandoffCore
import HandoffProtocol
import Ledger
import SQLite
import Testing

/// The schema repeats the transition table of the domain: derived from it here, pair by pair.
@Suite("The schema's moves", .timeLimit(.minutes(2)))
struct SchemaMoveTests {
  @Test("Every move that the domain's table has passes, and every other is refused")
  func pairs() async throws {
    try await LedgerFixture.with { fixture in
      let id = try #require(try await fixture.add(1, to: [.archive]).created.first).row
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      for before in HandoffStatus.allCases {
        let way = try #require(Self.way(to: before), "\(before) cannot be reached")
        for after in HandoffStatus.allCases where after != before {
          try connection.execute("SAVEPOINT s")
          for step in way { try connection.execute(Self.update(id, to: step)) }
          let refusal = Self.refusal(of: Self.update(id, to: after), in: connection)
          let isLegal = Self.followers(of: before).contains(after)
          #expect((refusal == nil) == isLegal, "\(before) to \(after): \(refusal ?? "passes")")
          if let refusal { #expect(refusal.contains("does not have this move")) }
          try connection.execute("ROLLBACK TO s; RELEASE s")
        }
      }
      try connection.close()
    }
  }

  @Test("A handoff begins as pending, or in doubt where a ledger was rebuilt")
  func beginnings() async throws {
    try await LedgerFixture.with { fixture in
      _ = try await fixture.submitted()
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      for status in HandoffStatus.allCases {
        try connection.execute("SAVEPOINT s")
        let refusal = Self.refusal(of: Self.insert(as: status), in: connection)
        let mayBegin = status == .pending || status == .outcomeUnknown
        #expect((refusal == nil) == mayBegin, "\(status): \(refusal ?? "passes")")
        try connection.execute("ROLLBACK TO s; RELEASE s")
      }
      try connection.close()
    }
  }

  @Test("A consumption never changes under its row, and only the move of a person takes it back")
  func consumption() async throws {
    try await LedgerFixture.with { fixture in
      let claimed = try await fixture.submitted()
      _ = try await fixture.answer(claimed, .failure(ResultError(.auth, "no", effect: .none)))
      let connection = try Connection(fixture.database, .write, busyTimeout: .seconds(5))
      for change in [
        "consumed_at = NULL", "consumed_at = 1", "result = 'success'", "result = NULL",
        "finished_at = NULL",
      ] {
        let line = "UPDATE handoffs SET \(change)"
        #expect(Self.refusal(of: line, in: connection) != nil, "\(change)")
      }
      try connection.close()
      _ = try await fixture.ledger.retry(claimed.handoff.id)
      #expect(try await fixture.claim().count == 1)
    }
  }

  // MARK: The domain's table

  private static let events: [HandoffEvent] =
    [
      .claim, .release, .submit, .accept, .success, .cancelled, .sendAgain, .refuse, .loseTrack,
      .notReceived, .needUser, .expire, .withdraw, .adopt, .retry, .restore,
    ]
    + [Effect.none, .applied, .unknown].flatMap { effect in
      [true, false].map { .failure(effect, retry: $0) }
    }

  private static func followers(of status: HandoffStatus) -> Set<HandoffStatus> {
    var followers: Set<HandoffStatus> = []
    for event in events {
      do { followers.insert(try HandoffLifecycle.status(after: event, from: status)) } catch {}
    }
    return followers
  }

  /// The shortest way from `pending`, without it.
  private static func way(to status: HandoffStatus) -> [HandoffStatus]? {
    var ways: [HandoffStatus: [HandoffStatus]] = [.pending: []]
    var open: [HandoffStatus] = [.pending]
    while !open.isEmpty {
      let next = open.removeFirst()
      for follower in followers(of: next) where ways[follower] == nil {
        ways[follower] = (ways[next] ?? []) + [follower]
        open.append(follower)
      }
    }
    return ways[status]
  }

  // MARK: SQL

  private static func refusal(of line: String, in connection: Connection) -> String? {
    do {
      try connection.execute(line)
      return nil
    } catch {
      return error.isConstraint ? error.message : "another error: \(error)"
    }
  }

  /// A change whose columns belong together.
  private static func update(_ id: Int64, to status: HandoffStatus) -> String {
    """
    UPDATE handoffs SET status = '\(status.rawValue)', result = \(result(of: status)),
      lease_until = \(status == .leased ? "1" : "NULL"),
      attempts = attempts + (status = 'pending' AND '\(status.rawValue)' = 'leased'),
      submitted_at = iif ('\(status.rawValue)' = 'accepted'
        OR (status = 'leased' AND '\(status.rawValue)' = 'submitted'), ifnull (submitted_at, 1),
        submitted_at),
      waiting_reason = NULL, waiting_until = NULL, due_at = 1, consumed_at = NULL,
      finished_at = \(status.isFinal ? "1" : "NULL") WHERE id = \(id)
    """
  }

  private static func insert(as status: HandoffStatus) -> String {
    """
    INSERT INTO handoffs (destination, local_identifiers, status, due_at, sync_publish,
      protocol_version, is_automatic, created_at, submitted_at, attempts, lease_until, finished_at,
      result, token_random, token_digest)
    VALUES ('archive', '', '\(status.rawValue)', 1, 0, 3, 0, 1, 1, 1,
      \(status == .leased ? "1" : "NULL"), \(status.isFinal ? "1" : "NULL"), \(result(of: status)),
      zeroblob (24), zeroblob (32))
    """
  }

  private static func result(of status: HandoffStatus) -> String {
    switch status {
    case .succeeded: "'success'"
    case .cancelled: "'cancelled'"
    case .refused, .failed: "'failure'"
    case .pending, .leased, .submitted, .accepted, .outcomeUnknown, .needsUser, .expired: "NULL"
    }
  }
}
