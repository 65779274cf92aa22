import HandoffProtocol

/// One signal a callback id: "there may be notices to bring".
struct NoticeSignals: Sendable {
  private let signals: [CallbackID: WakeSignal]

  init(_ callbacks: some Sequence<CallbackID>) {
    signals = Dictionary(callbacks.map { ($0, WakeSignal()) }) { first, _ in first }
  }

  subscript(callback: CallbackID) -> WakeSignal? { signals[callback] }

  /// Ids that are not configured have nobody to wake; their notices wait in the ledger.
  func signal(_ callbacks: Set<CallbackID>) {
    for callback in callbacks { signals[callback]?.signal() }
  }
}
