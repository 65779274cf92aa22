package import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Paths

/// What a changed configuration would do to folders, routes and pending handoffs.
package struct ConfigurationPlan: Encodable, Sendable {
  package struct Change: Encodable, Sendable {
    /// `add`, `change`, `remove` or `orphan`.
    package let action: String
    /// `folder`, `destination` or `handoff`.
    package let what: String
    package let name: String
    package let detail: String
  }

  package let changes: [Change]

  /// Compares two configurations, and looks which handoffs of the ledger would be left without a
  /// destination.
  package init(from current: Configuration, to changed: Configuration) async throws {
    var changes = Self.folders(current, changed) + Self.destinations(current, changed)
    let names = Set(changed.destinations.map(\.name))
    let open = try await LedgerQueries.open(current).openHandoffs()
    changes += open.filter { !names.contains($0.destination) }.map { handoff in
      Change(
        action: "orphan",
        what: "handoff",
        name: handoff.id,
        detail:
          "\(handoff.status.rawValue) at destination \(handoff.destination), which is not configured"
      )
    }
    self.changes = changes
  }

  /// For people.
  package var lines: [String] {
    changes.map { "\($0.action) \($0.what) \($0.name): \($0.detail)" }
  }

  private static func folders(_ current: Configuration, _ changed: Configuration) -> [Change] {
    differences(current.dropFolders, changed.dropFolders, by: \.path) { action, settings in
      let route = settings.handoff.map(\.text).joined(separator: ", ")
      let boxed = settings.syncPublishTo.map(\.text).joined(separator: ", ")
      return Change(
        action: action,
        what: "folder",
        name: settings.path.displayText,
        detail: "hands off to [\(route)], when the box is ticked to [\(boxed)] too"
      )
    }
  }

  private static func destinations(_ current: Configuration, _ changed: Configuration) -> [Change] {
    differences(current.destinations, changed.destinations, by: \.name) { action, settings in
      Change(
        action: action,
        what: "destination",
        name: settings.name.text,
        detail: "\(settings.transport.rawValue) \(settings.command.joined(separator: " "))"
      )
    }
  }

  private static func differences<Settings: Equatable, Name: Hashable>(
    _ current: [Settings],
    _ changed: [Settings],
    by name: (Settings) -> Name,
    describe: (String, Settings) -> Change
  ) -> [Change] {
    let before = Dictionary(current.map { (name($0), $0) }) { first, _ in first }
    let after = Set(changed.map(name))
    let removed = current.filter { !after.contains(name($0)) }.map { describe("remove", $0) }
    let rest = changed.compactMap { settings -> Change? in
      guard let old = before[name(settings)] else { return describe("add", settings) }
      return old == settings ? nil : describe("change", settings)
    }
    return removed + rest
  }
}
