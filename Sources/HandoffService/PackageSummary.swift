import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// Says which exports of a package are not in its requests, and why.
struct PackageSummary {
  /// So many names are given for each destination.
  private static let namesAtOnce = 10

  private let arrival: PackageArrival
  private let record: PackageRecord

  init(_ arrival: PackageArrival, _ record: PackageRecord) {
    self.arrival = arrival
    self.record = record
  }

  /// What there is to say of the requests.
  ///
  /// - Parameter hasDestinations: there is a destination to order it for.
  /// - Returns: a sentence; nil where every export is in a request to every destination.
  func sentence(hasDestinations: Bool) -> String? {
    guard hasDestinations else { return "its exports are imported; no destination is to get them" }
    if record.isHeld {
      return "its requests are held: it may be older than the rebuild of the ledger"
    }
    guard !record.omitted.isEmpty else { return nil }
    var destinations: [DestinationName] = []
    for omission in record.omitted where !destinations.contains(omission.destination) {
      destinations.append(omission.destination)
    }
    return destinations.map(sentence).joined(separator: "; ")
  }

  private func sentence(_ destination: DestinationName) -> String {
    let omitted = record.omitted.filter { $0.destination == destination }
    let shown = omitted.prefix(Self.namesAtOnce).map(text).joined(separator: ", ")
    let rest = omitted.count - Self.namesAtOnce
    let list = rest > 0 ? "\(shown), and \(rest) more" : shown
    if omitted.count == arrival.localIdentifiers.count {
      return "nothing was left to order for \(destination): \(list)"
    }
    return "its exports are one request to \(destination), without \(list)"
  }

  private func text(_ omission: PackageRecord.Omission) -> String {
    let names = arrival.members.filter { $0.localIdentifier == omission.member }.map { member in
      (member.path.relative(to: arrival.path) ?? member.path.lastComponent).displayText
    }
    let reason =
      switch omission.reason {
      case .handedOff(let handoff): "in \(handoff) already"
      case .deleted: "deleted before"
      case .olderThanRebuild: "from before the rebuild of the ledger"
      }
    return "\(names.joined(separator: " = ")) (\(reason))"
  }
}
