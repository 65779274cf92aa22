package import HandoffConfig
package import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// What a changed configuration would do to folders, routes and pending handoffs.
package struct ConfigurationPlan: Encodable, Sendable {
  package let changes: [PlanChange]

  /// Compares two configurations, and looks in the first one's ledger what becomes of open handoffs.
  ///
  /// - Parameters:
  ///   - current: what is in force.
  ///   - changed: what would be.
  /// - Throws: where the ledger cannot be read.
  package init(from current: Configuration, to changed: Configuration) async throws {
    let ledger = try await LedgerQueries.open(current).ledger
    var open: [Handoff] = []
    if let ledger { open = try await Self.openHandoffs(in: ledger) }
    changes =
      ReloadChecks.restarts(current, changed).map { restart in
        let parts = restart.key.split(separator: ".", maxSplits: 1)
        return PlanChange(.restart, String(parts[0]), String(parts[1]), restart.detail)
      } + Self.changes(from: current, to: changed, open: open)
  }

  /// For people.
  package var lines: [String] { changes.map(\.line) }

  /// Those that have not ended.
  static func openHandoffs(in ledger: some LedgerReading) async throws -> [Handoff] {
    var open: [Handoff] = []
    for status in HandoffStatus.allCases where !status.isFinal {
      open += try await ledger.handoffs(status: status, limit: .max)
    }
    return open.sorted { $0.id.row < $1.id.row }
  }

  /// Everything that a running broker can change without a restart.
  static func changes(
    from current: Configuration,
    to changed: Configuration,
    open: [Handoff]
  ) -> [PlanChange] {
    folders(current, changed) + destinations(current, changed) + callbacks(current, changed)
      + broker(current.broker, changed.broker) + library(current.library, changed.library)
      + PlannedHandoffs(current, changed, open).changes
  }

  private static func folders(_ current: Configuration, _ changed: Configuration) -> [PlanChange] {
    differences(current.dropFolders, changed.dropFolders, by: \.path) { action, settings in
      var detail = settings.routeText
      if action == .add {
        let found = FolderCensus(settings)
        let becomes = settings.existing == .import ? "imported" : "left alone"
        let files = found.files == 1 ? "1 file that is" : "\(found.files) files that are"
        let verb = found.files == 1 ? "is" : "are"
        detail += "; \(files) there, \(found.bytes) bytes, \(verb) \(becomes)"
        detail += found.problems.map { "; \($0)" }.joined()
      }
      return PlanChange(action, "folder", settings.path.displayText, detail)
    }
  }

  private static func destinations(
    _ current: Configuration,
    _ changed: Configuration
  ) -> [PlanChange] {
    differences(current.destinations, changed.destinations, by: \.name) { action, settings in
      PlanChange(action, "destination", settings.name.text, settings.way)
    }
  }

  private static func callbacks(_ current: Configuration, _ changed: Configuration) -> [PlanChange]
  {
    func sorted(_ configuration: Configuration) -> [CallbackSettings] {
      configuration.callbacks.values.sorted { $0.id.text < $1.id.text }
    }
    return differences(sorted(current), sorted(changed), by: \.id) { action, settings in
      let way =
        switch settings.action {
        case .exec: "exec"
        case .url: "url"
        case .open: "open"
        case .file: "file"
        }
      return PlanChange(action, "callback", settings.id.text, way)
    }
  }

  private static func broker(_ current: BrokerSettings, _ changed: BrokerSettings) -> [PlanChange] {
    func age(_ duration: Duration?) -> String { duration.map(Quantities.text) ?? "keep" }
    let keys = [
      ("alert", current.alert?.text ?? "none", changed.alert?.text ?? "none"),
      ("history", age(current.history), age(changed.history)),
      ("crash_limit", "\(current.crashLimit)", "\(changed.crashLimit)"),
    ]
    return keys.filter { $0.1 != $0.2 }.map {
      PlanChange(.change, "broker", $0.0, "\($0.1) becomes \($0.2)")
    }
  }

  private static func library(
    _ current: LibrarySettings,
    _ changed: LibrarySettings
  ) -> [PlanChange] {
    func age(_ duration: Duration?, or nothing: String) -> String {
      duration.map(Quantities.text) ?? nothing
    }
    func size(_ reserve: LibrarySettings.Reserve) -> String {
      switch reserve {
      case .percent(let percent): "\(percent)%"
      case .bytes(let bytes): Quantities.text(bytes)
      }
    }
    let keys = [
      ("reserve", size(current.reserve), size(changed.reserve)),
      ("retention", age(current.retention, or: "keep"), age(changed.retention, or: "keep")),
      (
        "verify_every", age(current.verifyEvery, or: "never"), age(changed.verifyEvery, or: "never")
      ),
    ]
    return keys.filter { $0.1 != $0.2 }.map {
      PlanChange(.change, "library", $0.0, "\($0.1) becomes \($0.2)")
    }
  }

  private static func differences<Settings: Equatable, Name: Hashable>(
    _ current: [Settings],
    _ changed: [Settings],
    by name: (Settings) -> Name,
    describe: (PlanChange.Action, Settings) -> PlanChange
  ) -> [PlanChange] {
    let before = Dictionary(current.map { (name($0), $0) }) { first, _ in first }
    let after = Set(changed.map(name))
    let removed = current.filter { !after.contains(name($0)) }.map { describe(.remove, $0) }
    let rest = changed.compactMap { settings -> PlanChange? in
      guard let old = before[name(settings)] else { return describe(.add, settings) }
      return old == settings ? nil : describe(.change, settings)
    }
    return removed + rest
  }
}

extension DropFolderSettings {
  /// Where its exports go, for people.
  fileprivate var routeText: String {
    let route = handoff.isEmpty ? "nobody" : handoff.map(\.text).joined(separator: ", ")
    guard !syncPublishTo.isEmpty else { return "hands off to \(route)" }
    let boxed = syncPublishTo.map(\.text).joined(separator: ", ")
    return "hands off to \(route), and where the box is ticked to \(boxed)"
  }
}

extension DestinationSettings {
  /// How its receiver is reached, for people.
  var way: String {
    switch transport {
    case .plugin, .exec: "\(transport.rawValue) \(command.joined(separator: " "))"
    case .http, .url: "\(transport.rawValue) \(url ?? "")"
    case .file: "file \(inbox?.displayText ?? "")"
    }
  }
}
