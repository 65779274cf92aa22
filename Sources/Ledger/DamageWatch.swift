import Paths
import SQLite
import Synchronization

/// Remembers that the open ledger was found to be damaged, and tells whoever waits for that.
///
/// From then on nothing more is written: a database of which a part cannot be read gives half a view, and
/// half a view hands off twice.
package final class DamageWatch: Sendable {
  private struct State {
    var detail: String?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let path: BytePath
  private let state = Mutex(State())

  init(_ path: BytePath) {
    self.path = path
  }

  /// The damage, as an error; nil while none was found.
  var error: LedgerError? {
    state.withLock(\.detail).map { LedgerError.damaged(path, detail: $0) }
  }

  /// Looks at an error of SQLite's.
  func note(_ error: SQLiteError) {
    guard error.isDamage else { return }
    let waiting = state.withLock { state in
      state.detail = state.detail ?? "\(error.message), found while it was in use"
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when damage is found, or at the task's cancellation.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if state.detail != nil || Task.isCancelled { return true }
          state.waiting.append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }
}

extension Ledger {
  /// Throws when the ledger is found to be damaged while it is open; returns at the task's cancellation.
  ///
  /// To be awaited by one task.
  package func untilDamaged() async throws {
    await readings.damage.wait()
    if let error = readings.damage.error { throw error }
  }
}
