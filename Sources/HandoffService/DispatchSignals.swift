import HandoffProtocol

/// One signal a destination: "look into the ledger now".
struct DispatchSignals: Sendable {
  private let signals: [DestinationName: WakeSignal]

  init(_ destinations: [DestinationName]) {
    signals = Dictionary(uniqueKeysWithValues: destinations.map { ($0, WakeSignal()) })
  }

  subscript(destination: DestinationName) -> WakeSignal? { signals[destination] }

  /// Destinations that are not configured have nobody to wake; their handoffs wait in the ledger.
  func signal(_ destinations: some Sequence<DestinationName>) {
    for destination in Set(destinations) { signals[destination]?.signal() }
  }
}
