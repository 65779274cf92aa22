import HandoffProtocol
import Synchronization

/// How each destination is that is worked for; a reload changes who that is.
final class DestinationRoster: Sendable {
  private let health = Mutex<[DestinationName: DestinationHealth]>([:])

  subscript(destination: DestinationName) -> DestinationHealth? {
    health.withLock { $0[destination] }
  }

  func put(_ health: DestinationHealth) {
    self.health.withLock { $0[health.name] = health }
  }

  func remove(_ destination: DestinationName) {
    health.withLock { $0[destination] = nil }
  }
}
