import HandoffCore
import HandoffProtocol
import Ledger
import Synchronization

/// One handoff that a running plugin holds.
final class InFlight: Sendable {
  private struct State {
    var lastSign: ContinuousClock.Instant
    var hasEnded = false
  }

  let claimed: ClaimedHandoff
  let assets: [GrantedAsset]
  private let state: Mutex<State>
  private let changed = WakeSignal()

  init(_ claimed: ClaimedHandoff, assets: [GrantedAsset]) {
    self.claimed = claimed
    self.assets = assets
    state = Mutex(State(lastSign: .now))
  }

  var id: Handoff.ID { claimed.handoff.id }

  var reference: HandoffReference {
    HandoffReference(handoffID: id.description, state: claimed.request.state)
  }

  var parameters: SubmitParameters {
    SubmitParameters(handoffID: id.description, request: claimed.request)
  }

  var hasEnded: Bool { state.withLock(\.hasEnded) }

  /// The receiver is alive and at work.
  func giveSign() {
    state.withLock { $0.lastSign = .now }
    changed.signal()
  }

  /// The attempt is over, whatever came of it.
  func end() {
    state.withLock { $0.hasEnded = true }
    changed.signal()
  }

  /// Waits until the attempt has ended (true), or no sign of life came for a time (false).
  func wait(idle: Duration) async -> Bool {
    while true {
      let (hasEnded, lastSign) = state.withLock { ($0.hasEnded, $0.lastSign) }
      if hasEnded || Task.isCancelled { return true }
      let left = idle - lastSign.duration(to: .now)
      if left <= .zero { return false }
      await changed.wait(atMost: left)
    }
  }
}

/// What one running plugin holds, found by token without comparing secrets with `==`.
final class InFlightTable: Sendable {
  private let entries = Mutex<[Handoff.ID: InFlight]>([:])

  func insert(_ entry: InFlight) {
    entries.withLock { $0[entry.id] = entry }
  }

  func remove(_ entry: InFlight) {
    entries.withLock { $0[entry.id] = nil }
  }

  func entry(of state: StateToken) -> InFlight? {
    entries.withLock { entries in
      entries.values.first { $0.claimed.request.state.matches(state) }
    }
  }
}
