import Glibc
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite
import Testing

/// Accounts for everything after a soak: from the ledger, and from what the receivers wrote down.
struct SoakVerdict {
  let scene: Scene
  let shaky: ShakyReceiver
  let exports: Int

  private static let destinations = ["script", "shaky", "steady"]

  /// One handoff of the ledger.
  private struct Line {
    let id: String
    let destination: String
    let asset: Int64
    let status: String
    let error: String?
  }

  /// Waits until each export is an asset and each handoff final, or waits for a person.
  func untilNothingIsOpen() async throws {
    let state = scene.broker.root.appending("state")
    let found = try await poll(
      within: .seconds(LongTests.isLong ? 480 : 90),
      every: .milliseconds(500)
    ) { () -> Bool? in
      let ledger = try Connection(state.appending("ledger.db"), .read, busyTimeout: .seconds(20))
      let assets = try ledger.first(Self.countAssets) { try $0.integer(0) } ?? 0
      let open = try ledger.first(Self.countOpen) { try $0.integer(0) } ?? 0
      return assets == exports && open == 0 ? true : nil
    }
    let end = try scene.broker.tail()
    try #require(found != nil, "not everything came to an end: \(end)")
  }

  /// Records what is missing, doubled or false; returns the counts in words.
  func judge(_ seed: UInt64) async throws -> String {
    let lines = try handoffs()
    #expect(lines.count == exports * Self.destinations.count, "seed \(seed)")
    let pairs = Set(lines.map { "\($0.asset) \($0.destination)" })
    #expect(pairs.count == lines.count, "seed \(seed): two handoffs of an asset at a destination")
    for line in lines where line.status == "outcome_unknown" || line.status == "failed" {
      #expect(line.error != nil, "seed \(seed): \(line.id) ended without a reason")
    }
    try judgeShaky(lines.filter { $0.destination == "shaky" }, seed)
    for destination in ["steady", "script"] {
      try judgeLog(destination, lines.filter { $0.destination == destination }, seed)
    }
    let reader = try await Ledger.openForReading(
      directory: scene.broker.root.appending("state")
    )
    let chain = try await reader.verifyChain()
    try await reader.close()
    guard case .intact(let events) = chain else {
      Issue.record("seed \(seed): the chain is \(chain)")
      return ""
    }
    let statuses = Dictionary(grouping: lines) { "\($0.destination) \($0.status)" }
      .map { "\($0.value.count) \($0.key)" }.sorted()
    let failures = Dictionary(grouping: try shaky.failures) { $0 }
      .map { "\($0.value.count) \($0.key)" }.sorted()
    return """
      \(lines.count) handoffs (\(statuses.joined(separator: ", "))); shaky: \
      \(failures.joined(separator: ", ")); chain intact over \(events) events
      """
  }

  private func judgeShaky(_ lines: [Line], _ seed: UInt64) throws {
    let done = try shaky.done
    #expect(Set(done).count == done.count, "seed \(seed): shaky did something twice")
    for line in lines where line.status == "succeeded" {
      #expect(done.contains(line.id), "seed \(seed): \(line.id) is no success")
    }
    #expect(try !shaky.failures.isEmpty, "seed \(seed): nothing failed")
  }

  private func judgeLog(_ destination: String, _ lines: [Line], _ seed: UInt64) throws {
    let path = scene.broker.root.appending("out/\(destination).log")
    let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 26)
    let done = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    #expect(Set(done).count == done.count, "seed \(seed): \(destination) did something twice")
    let succeeded = lines.count { $0.status == "succeeded" }
    #expect(succeeded <= done.count, "seed \(seed): a false success at \(destination)")
    let other = lines.filter { $0.status != "succeeded" && $0.status != "outcome_unknown" }
    #expect(other.map(\.status) == [], "seed \(seed): \(destination)")
  }

  private func handoffs() throws -> [Line] {
    let path = scene.broker.root.appending("state/ledger.db")
    let ledger = try Connection(path, .read, busyTimeout: .seconds(20))
    return try ledger.rows(Self.all) { row in
      Line(
        id: "h\(try row.integer(0))",
        destination: try row.text(1),
        asset: try row.integer(2),
        status: try row.text(3),
        error: try row.optionalText(4)
      )
    }
  }

  private static let countAssets = SQL("SELECT count(*) FROM assets")
  private static let countOpen = SQL(
    "SELECT count(*) FROM handoffs WHERE finished_at IS NULL AND status <> 'outcome_unknown'"
  )
  private static let all = SQL(
    "SELECT id, destination, automatic_asset, status, error_code FROM handoffs ORDER BY id"
  )
}
