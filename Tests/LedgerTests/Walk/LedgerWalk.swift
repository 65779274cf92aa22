import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

/// A random walk through the lives of handoffs, on a real ledger and on a naive model side by side.
final class LedgerWalk {
  static let destinations: [DestinationName] = [.archive, .social]

  let root: BytePath
  let clocks = WalkClocks()
  var random: SeededGenerator
  var fixture: LedgerFixture
  var database: Connection
  var model: [Int64: ModelHandoff] = [:]
  /// Pairs of asset and destination that were handed off automatically.
  var automatic: Set<String> = []
  var keys: [String: (id: Int64, body: String)] = [:]
  var assets: [Int: LocalIdentifier] = [:]
  var sightings = 0
  /// Results that the ledger has to have a record of.
  var brought: Int64 = 0
  var crashes = 0
  /// What was done last, for who reads of a fault.
  var trail: [String] = []

  init(_ root: BytePath, seed: UInt64) async throws {
    self.root = root
    random = SeededGenerator(seed: seed)
    let first = root.appending("0")
    try Directory.create(first)
    (fixture, database) = try await Self.open(first, clocks)
  }

  static func open(
    _ directory: BytePath,
    _ clocks: WalkClocks
  ) async throws -> (LedgerFixture, Connection) {
    let ledger = try await Ledger.open(
      directory: directory,
      logger: .silent,
      now: { clocks.now },
      bootClock: clocks.boot,
      // Its crashes are nobody's fault: suspects have tests of their own.
      crashLimit: 0
    )
    let fixture = LedgerFixture(ledger: ledger, directory: directory, time: ManualTime())
    return (fixture, try Connection(fixture.database, .read, busyTimeout: .seconds(5)))
  }

  var ledger: Ledger { fixture.ledger }
  var now: Int64 { clocks.milliseconds }

  func close() async throws {
    try database.close()
    try await ledger.close()
  }

  // MARK: Chance

  func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }
  func chance(_ percent: Int) -> Bool { below(100) < percent }
  func any<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
  var anyDestination: DestinationName { any(Self.destinations) }

  /// Mostly one of the latest; any of all now and then.
  func anyHandoff() -> Int64? {
    guard !model.isEmpty else { return nil }
    let newest = Int64(model.count)
    let span = chance(85) ? min(newest, 12) : newest
    return newest - Int64(below(Int(span)))
  }

  // MARK: Comparing

  /// Does one step in both, and compares what they say and what has become of the handoff.
  func step() async throws -> Bool {
    let (word, id, expected, actual) = try await act()
    let line = "\(word) \(id.map(String.init) ?? "-"): \(expected)"
    trail = trail.suffix(25) + [line]
    guard expected == actual else { return fault("\(line), the ledger says \(actual)") }
    if let id { return try compare(id) }
    return try compareAll()
  }

  private func compare(_ id: Int64) throws -> Bool {
    guard let expected = model[id].map(RowView.init) else { return true }
    let actual = try RowView.all(in: database, id)[id]
    return actual == expected || fault("h\(id) is \(String(describing: actual)), not \(expected)")
  }

  func compareAll() throws -> Bool {
    let rows = try RowView.all(in: database)
    guard rows.count == model.count else { return fault("\(rows.count) rows, not \(model.count)") }
    for (id, handoff) in model where rows[id] != RowView(handoff) {
      return fault("h\(id) is \(String(describing: rows[id])), not \(RowView(handoff))")
    }
    return try compareViews()
  }

  private func compareViews() throws -> Bool {
    func count(_ sql: SQL) throws -> Int64 {
      try database.first(sql) { row in try row.integer(0) } ?? 0
    }
    let waiting = Int64(model.values.count { $0.isUnsent })
    let expired = Int64(model.values.count { $0.status == "expired" })
    guard try count(Self.pending) == waiting else { return fault("the view `pending`") }
    guard try count(Self.expired) == expired else { return fault("the view `expired`") }
    guard try count(Self.results) == brought else { return fault("the view `results`") }
    guard try count(Self.consumedTwice) == 0 else { return fault("a token was consumed twice") }
    guard try count(Self.sentUnclaimed) == 0 else { return fault("sent and not claimed") }
    return true
  }

  func fault(_ text: String) -> Bool {
    Issue.record("\(text)\n\(trail.joined(separator: "\n"))")
    return false
  }

  private static let pending = SQL("SELECT count(*) FROM pending")
  private static let expired = SQL("SELECT count(*) FROM expired")
  private static let results = SQL("SELECT ifnull (sum (times), 0) FROM results")
  /// More ends by a result than lives that a person began anew, plus the first.
  private static let consumedTwice = SQL(
    """
    SELECT count(*) FROM (
      SELECT handoff FROM events WHERE handoff IS NOT NULL GROUP BY handoff
      HAVING sum (event IN ('succeeded', 'failed', 'refused') AND to_status <> 'outcome_unknown')
        > 1 + sum (event = 'retried'))
    """
  )
  private static let sentUnclaimed = SQL(
    "SELECT count(*) FROM events WHERE event = 'submitted' AND from_status <> 'leased'"
  )
}
