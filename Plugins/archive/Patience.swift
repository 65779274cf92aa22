import LinuxSystem
import Synchronization

/// Calls back once nothing has renewed it for a time.
final class Patience: Sendable {
  private struct State {
    var timer: EventLoop.Registration?
    var hasRunOut = false
    var isOver = false
  }

  private let limit: Duration
  private let act: @Sendable () -> Void
  private let state = Mutex(State())

  init(_ limit: Duration, _ act: @escaping @Sendable () -> Void) {
    self.limit = limit
    self.act = act
    renew()
  }

  /// It has called back.
  var hasRunOut: Bool { state.withLock { $0.hasRunOut } }

  /// Begins to wait again.
  func renew() {
    let timer = EventLoop.process.after(limit) { [self] in
      let isMeant = state.withLock { state in
        if state.isOver { return false }
        state.hasRunOut = true
        return true
      }
      if isMeant { act() }
    }
    replace(timer, isOver: false)
  }

  /// Waits no more.
  func end() {
    replace(nil, isOver: true)
  }

  private func replace(_ timer: EventLoop.Registration?, isOver: Bool) {
    let former = state.withLock { state in
      let former = state.isOver ? timer : state.timer
      state.timer = state.isOver ? nil : timer
      state.isOver = state.isOver || isOver
      return former
    }
    former?.cancel()
  }
}
