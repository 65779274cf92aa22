import Dispatch

/// The program's first thread.
package enum MainThread {
  /// Runs the whole asynchronous program while the first thread waits for it, then ends the process.
  ///
  /// An `async` main would let libdispatch park the first thread in sigsuspend(2) with no signal
  /// blocked, so that SIGTERM would find it and end the process, whatever ``SignalMask`` has blocked
  /// before. Waiting here, it keeps its mask. Called once, from a synchronous main.
  ///
  /// - Parameter program: ends the process itself.
  package static func run(_ program: @escaping @Sendable () async -> Never) -> Never {
    // The root of all structured tasks: nothing is lost with its handle, since it never returns.
    Task.detached { await program() }
    let never = DispatchSemaphore(value: 0)
    while true { never.wait() }
  }
}
