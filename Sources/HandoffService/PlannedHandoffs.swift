import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol

/// What a changed configuration does to open handoffs.
struct PlannedHandoffs {
  private(set) var changes: [PlanChange] = []
  /// So many are named for each destination; the rest is counted.
  private static let named = 100

  init(_ current: Configuration, _ changed: Configuration, _ open: [Handoff]) {
    let byDestination = Dictionary(grouping: open, by: \.destination)
    for (name, handoffs) in byDestination.sorted(by: { $0.key.text < $1.key.text }) {
      guard let after = changed.destination(name) else {
        // What was left before is no change.
        if current.destination(name) != nil { add(.orphan, handoffs) { Self.orphan($0) } }
        continue
      }
      guard let before = current.destination(name) else {
        let waiting = handoffs.filter { $0.status == .pending }
        add(.adopt, waiting) { "goes on: its destination \($0.destination) is configured again" }
        continue
      }
      guard before.way != after.way else { continue }
      add(.reroute, handoffs) { "\($0.status.rawValue) at destination \(name), now \(after.way)" }
    }
  }

  private static func orphan(_ handoff: Handoff) -> String {
    let place = "at destination \(handoff.destination), which is not configured"
    switch handoff.status {
    case .pending: return "pending \(place): it waits as destination_unknown"
    case .leased: return "leased \(place): it waits as destination_unknown if it was not sent"
    default: return "\(handoff.status.rawValue) \(place): without an end soon, a person decides"
    }
  }

  private mutating func add(
    _ action: PlanChange.Action,
    _ handoffs: [Handoff],
    _ detail: (Handoff) -> String
  ) {
    for handoff in handoffs.prefix(Self.named) {
      changes.append(PlanChange(action, "handoff", handoff.id.description, detail(handoff)))
    }
    let rest = handoffs.count - Self.named
    guard rest > 0, let last = handoffs.last else { return }
    changes.append(
      PlanChange(action, "handoff", "\(rest) more", "at destination \(last.destination)")
    )
  }
}
