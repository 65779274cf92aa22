import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import SQLite

/// Starts the real broker on a state of the disk and lets it finish.
///
/// Every request that went out before the cut was done by the receiver, as far as it knows: doing one of
/// them again is the fault that is looked for.
struct PowerLossRestart {
  let image: DiskImage
  let config: BytePath
  let promises: Promises

  func faults() async throws -> [String] {
    let text = try FileDescriptor.open(config, O_RDONLY).readAll(limit: 1 << 20)
    return try await withTemporaryDirectory { root in
      for folder in ["state", "library", "done"] as [BytePath] {
        try image.write(folder, to: root.appending(folder))
      }
      for folder in ["exports", "taken", "moved", "done", "out"] as [BytePath] {
        try Directory.create(root.appending(folder))
      }
      let broker = try RunningBroker(
        root: root,
        configuration: String(decoding: text, as: UTF8.self)
      )
      do {
        try await broker.start()
      } catch {
        return ["the broker does not start: \(error)"]
      }
      let faults = try await look(at: broker)
      await broker.end(SIGKILL)
      return faults
    }
  }

  private func look(at broker: RunningBroker) async throws -> [String] {
    var faults: [String] = []
    let ledger = broker.root.appending("state/ledger.db")
    let ended = try await poll { () -> Bool? in
      let connection = try Connection(ledger, .read, busyTimeout: .seconds(5))
      let open = try connection.first(Self.countOpen) { try $0.integer(0) } ?? 0
      return open == 0 ? true : nil
    }
    if ended == nil { faults.append("handoffs stay open: \(try broker.tail())") }
    let check = try await broker.command(["fsck", "--json"])
    let report = try WireCoder.decode(JSONValue.self, from: check.output, limit: .max)
    if report["state"]?.text != "done" { faults.append("fsck: \(report)") }
    // An object whose row was not written yet is what the next import of its export takes.
    let expected: Set<String> = ["orphan_object", "orphan_record"]
    faults += (report["findings"]?.elements ?? [])
      .filter { !expected.contains($0["kind"]?.text ?? "") }.map { "fsck: \($0)" }
    faults += try promisedTwice(ledger)
    return faults
  }

  /// What was sent before the cut may be asked about, and sent again only once the receiver has said that
  /// it never heard of it; a new handoff of the same asset would be done twice.
  private func promisedTwice(_ path: BytePath) throws -> [String] {
    let connection = try Connection(path, .read, busyTimeout: .seconds(5))
    let doubled = try connection.rows(Self.doubled) { try $0.integer(0) }
    let known = Set(try connection.rows(Self.submitted) { try $0.integer(0) })
    return doubled.map { "two handoffs of asset \($0)" }
      + promises.submitted.subtracting(known).map { "sent, and forgotten: h\($0)" }
  }

  private static let countOpen = SQL(
    "SELECT count(*) FROM handoffs WHERE finished_at IS NULL AND status <> 'outcome_unknown'"
  )
  private static let doubled = SQL(
    """
    SELECT asset FROM handoff_assets JOIN handoffs ON handoffs.id = handoff
    GROUP BY asset, destination HAVING count(*) > 1
    """
  )
  private static let submitted = SQL(
    "SELECT DISTINCT handoff FROM events WHERE to_status = 'submitted'"
  )
}
