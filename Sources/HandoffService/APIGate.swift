import Synchronization

/// Lets nothing be claimed for an `http` destination while the API is configured and not served: its
/// receiver could neither read the asset nor bring its result.
final class APIGate: Sendable {
  private struct Shut {
    let reason: String
    /// How the destination was before.
    let before: DestinationHealth.Condition
  }

  private let address: APIAddress
  private let health: DestinationHealth
  private let shut = Mutex<Shut?>(nil)

  init(address: APIAddress, health: DestinationHealth) {
    self.address = address
    self.health = health
  }

  /// Whether handoffs can be sent now; the destination's health says why not.
  var isOpen: Bool {
    guard case .failed(let reason) = address.condition else {
      let before = shut.withLock { shut in
        defer { shut = nil }
        return shut?.before
      }
      if let before { health.set(before) }
      return true
    }
    let isNew = shut.withLock { shut in
      if shut?.reason == reason { return false }
      shut = Shut(reason: reason, before: shut?.before ?? health.condition)
      return true
    }
    if isNew { health.set(.down("the HTTP API is not served: \(reason)")) }
    return false
  }
}
