import HandoffCore
import HandoffProtocol

/// One attempt of a handoff among several.
extension HandoffRow {
  /// Whether the end of an attempt comes too late to mean this row: another attempt has begun, or this
  /// one has had its end and waits for the next.
  func isPast(_ attempt: Int?) -> Bool {
    guard let attempt else { return false }
    return Int64(attempt) != attempts || status == .pending || status == .leased
  }

  /// Nobody knows what the attempts so far have done, and another follows.
  mutating func leaveInDoubt() {
    leaveBehind(Effect.unknown.rawValue)
  }

  /// Keeps what the attempts so far have left behind for those that follow.
  mutating func leaveBehind(_ effect: String?) {
    if let effect, effect != Effect.none.rawValue { earlierEffect = effect }
  }

  /// What an event means where earlier attempts may have done something: that the present one has done
  /// nothing does not end the doubt about them.
  func afterEarlierAttempts(_ event: HandoffEvent) -> HandoffEvent {
    guard let earlier = earlierEffect.flatMap(Effect.init) else { return event }
    switch event {
    case .refuse, .failure(.none, retry: false):
      let isWithReceiver = status != .pending && status != .leased
      return .failure(isWithReceiver ? earlier : .none, retry: false)
    default: return event
    }
  }

  /// An error without effect does not hide what earlier attempts may have done.
  mutating func bearEarlierEffect() {
    guard let earlierEffect else { return }
    if error == nil, status == .cancelled {
      error = StoredError(
        ResultError(
          .interrupted,
          "cancelled after an attempt of which nobody knows what it has done",
          effect: .none
        ),
        .broker
      )
    }
    if error?.effect == Effect.none.rawValue { error?.effect = earlierEffect }
  }
}
