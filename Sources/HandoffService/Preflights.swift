import Destinations
import HandoffProtocol
import Synchronization

/// The receivers that can be asked whether they would take a request, as long as they run.
final class Preflights: Sendable {
  /// A running plugin, and what it said of itself.
  struct Receiver: Sendable {
    let introduction: PluginIntroduction
    let process: PluginProcess
  }

  private let receivers = Mutex<[DestinationName: Receiver]>([:])

  func attach(_ destination: DestinationName, _ receiver: Receiver) {
    receivers.withLock { $0[destination] = receiver }
  }

  func detach(_ destination: DestinationName) {
    receivers.withLock { $0[destination] = nil }
  }

  subscript(_ destination: DestinationName) -> Receiver? {
    receivers.withLock { $0[destination] }
  }
}
