import Glibc
import HandoffControl
import HandoffCore
import HandoffProtocol
import HandoffService
import LinuxSystem
import MastodonStandIn
import Paths

/// Walks one export from its first byte to the ledger, and shows each step as it happens.
struct DemoWalk {
  let stage: DemoStage

  private var export: BytePath { stage.exports.appending("holiday cut.mp4") }
  private static let patience: Duration = .seconds(60)

  func run() async throws {
    try await untilReady()
    try tickTheBox()
    async let written: Void = writeSlowly()
    let identifier = try await watchUntilImported()
    try await written
    let asset = try await asset(identifier)
    let handoffs = try await watchHandoffs()
    try await checkDestinations(asset, handoffs)
    try await showLedger()
    try await stopBroker()
  }

  private func untilReady() async throws {
    _ = try await until("the broker is ready") {
      if let status = stage.broker.exitStatus { throw DemoFailure("the broker \(status)") }
      return try await stage.status()
    }
    Terminal.out("The broker is ready and watches \(stage.exports.displayText)\n")
  }

  /// The check box "also publish", as an editor would tick it beside its export.
  private func tickTheBox() throws {
    let sidecar = """
      title = "Holiday cut"
      sync_publish = true
      """
    try DurableFile.write(
      Array(sidecar.utf8),
      to: export.addingSuffix(".handoff.toml"),
      permissions: 0o644
    )
    say("export", "begins: \(export.displayText), with the box ticked")
  }

  /// The way an exporter does: opened once, written piece by piece, closed at the end.
  private func writeSlowly() async throws {
    let bytes = try FileDescriptor.open(stage.sample, O_RDONLY).readAll(limit: 1 << 30)
    let file = try FileDescriptor.open(export, O_WRONLY | O_CREAT | O_EXCL, mode: 0o644)
    let piece = bytes.count / 8 + 1
    for start in stride(from: 0, to: bytes.count, by: piece) {
      try file.write(Array(bytes[start..<min(start + piece, bytes.count)]))
      try await Task.sleep(for: .milliseconds(300))
    }
    try file.close()
    say("export", "is written and closed, \(bytes.count) bytes")
  }

  private func watchUntilImported() async throws -> LocalIdentifier {
    var shown = ""
    return try await until("the export is imported") {
      let report = try await BrokerConnection.ask(
        stage.configuration,
        .why,
        WhyParameters(path: export),
        as: WhyReport.self
      )
      let line = report.state + (report.reason.map { " (\($0))" } ?? "")
      if line != shown, report.state != "unknown" {
        say(shown.isEmpty ? "seen" : "settling", line)
        shown = line
      }
      return report.localIdentifier
    }
  }

  private func asset(_ identifier: LocalIdentifier) async throws -> AssetReport {
    let queries = try await LedgerQueries.open(stage.configuration)
    guard let asset = try await queries.asset(identifier) else {
      throw DemoFailure("the ledger has no asset \(identifier)")
    }
    say("imported", "\(asset.localIdentifier)")
    say("", "SHA-256 \(asset.sha256)")
    say("", "\(asset.videoCodec) \(asset.width)x\(asset.height), \(asset.durationSeconds) s")
    return asset
  }

  private func watchHandoffs() async throws -> [HandoffReport] {
    var shown: [String: String] = [:]
    let queries = try await LedgerQueries.open(stage.configuration)
    return try await until("all three handoffs have ended") {
      let handoffs = try await queries.handoffs(HandoffFilter())
      for handoff in handoffs.reversed() where shown[handoff.id] != handoff.status.rawValue {
        shown[handoff.id] = handoff.status.rawValue
        let why = handoff.error.map { ": \($0.code) \($0.message)" } ?? ""
        say(
          "handed off",
          "\(handoff.id) to \(handoff.destination): \(handoff.status.rawValue)\(why)"
        )
      }
      return handoffs.count == 3 && handoffs.allSatisfy(\.status.isFinal) ? handoffs : nil
    }
  }

  /// Looks at the destinations themselves: a ledger that says "done" is not enough.
  private func checkDestinations(_ asset: AssetReport, _ handoffs: [HandoffReport]) async throws {
    for handoff in handoffs {
      try DemoFailure.unless(handoff.status == .succeeded, "\(handoff.destination) did not succeed")
      say("result", "\(handoff.destination): \(try text(handoff.output))")
    }
    let output = Dictionary(uniqueKeysWithValues: handoffs.map { ($0.destination.text, $0.output) })
    guard let copy = output["archive"]?["path"]?.text, let page = output["preview"]?["page"]?.text
    else { throw DemoFailure("archive or preview does not say where its work is") }
    let archived = try FileDescriptor.open(BytePath(copy), O_RDONLY).readAll(limit: 1 << 30)
    let exported = try FileDescriptor.open(stage.sample, O_RDONLY).readAll(limit: 1 << 30)
    try DemoFailure.unless(archived == exported, "the archive's copy differs from the export")
    try DemoFailure.unless(
      try FileStatus.of(BytePath(page))?.size ?? 0 > 0,
      "the preview page is empty"
    )
    let published = stage.standIn.statuses
    try DemoFailure.unless(published.count == 1, "published \(published.count) times")
    say(
      "checked",
      "the archive has the same bytes, the preview page is there, published exactly once"
    )
    let receipt = export.addingSuffix(".handoff.json")
    let bytes = try await until("the receipt says published") { () -> [UInt8]? in
      guard try FileStatus.of(receipt) != nil else { return nil }
      let file = try FileDescriptor.open(receipt, O_RDONLY)
      let bytes = try file.readAll(limit: 1 << 20)
      return String(decoding: bytes, as: UTF8.self).contains("\"published\"") ? bytes : nil
    }
    say(
      "receipt",
      "\(receipt.lastComponent.displayText): \(bytes.count) bytes, the box is marked published"
    )
  }

  private func showLedger() async throws {
    Terminal.out("\nThe ledger:")
    let handoffs = try await LedgerQueries.open(stage.configuration).handoffs(HandoffFilter())
    Terminal.table(
      ["ID", "DESTINATION", "STATUS", "CREATED", "FINISHED"],
      handoffs.map {
        [
          $0.id, $0.destination.text, $0.status.rawValue, $0.createdAt.rfc3339,
          $0.finishedAt?.rfc3339 ?? "",
        ]
      }
    )
  }

  private func stopBroker() async throws {
    stage.broker.signalGroup(SIGTERM)
    let status = await stage.broker.exit()
    try DemoFailure.unless(status == .exited(0), "the broker ended with \(status)")
  }

  private func text(_ output: [String: JSONValue]) throws -> String {
    String(decoding: try WireCoder.encode(output), as: UTF8.self)
  }

  private func say(_ step: String, _ text: String) {
    let label = step + String(repeating: " ", count: max(0, 12 - step.count))
    Terminal.out("\(label)\(text)")
  }

  /// Looks across the process border until there is a value, with a deadline.
  private func until<Value>(_ what: String, _ look: () async throws -> Value?) async throws -> Value
  {
    let deadline = ContinuousClock.now.advanced(by: Self.patience)
    while ContinuousClock.now < deadline {
      if let value = try await look() { return value }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw DemoFailure("waited \(Self.patience) in vain: \(what)")
  }
}
