import HandoffCore
import HandoffProtocol
import Synchronization

/// Tells everybody who waits for a handoff that it has changed; each then looks into the ledger.
final class ChangeBroadcast: Sendable {
  private struct State {
    var last = 0
    var listeners: [Int: (Handoff.ID, WakeSignal)] = [:]
  }

  private let state = Mutex(State())

  func changed(_ id: Handoff.ID) {
    let wakers = state.withLock { state in
      state.listeners.values.filter { $0.0 == id }.map(\.1)
    }
    for waker in wakers { waker.signal() }
  }

  /// As ``wait(for:_:)``, but for a time only; nil where the look has given nothing until then.
  func wait<Value>(
    for id: Handoff.ID,
    atMost limit: Duration,
    _ look: () async throws -> Value?
  ) async throws -> Value? {
    let end = ContinuousClock.now + limit
    return try await wait(for: id) { () -> Value?? in
      if let value = try await look() { return .some(value) }
      return ContinuousClock.now < end ? nil : .some(nil)
    } rest: { waker in
      await waker.wait(atMost: max(.zero, ContinuousClock.now.duration(to: end)))
    }
  }

  /// Looks, and looks again after each change, until the look gives a value or the task is cancelled.
  func wait<Value>(
    for id: Handoff.ID,
    _ look: () async throws -> Value?,
    rest: (WakeSignal) async -> Void = { await $0.wait() }
  ) async throws -> Value {
    let waker = WakeSignal()
    let number = state.withLock { state in
      state.last += 1
      state.listeners[state.last] = (id, waker)
      return state.last
    }
    defer { state.withLock { $0.listeners[number] = nil } }
    while true {
      if let value = try await look() { return value }
      await rest(waker)
      try Task.checkCancellation()
    }
  }
}
