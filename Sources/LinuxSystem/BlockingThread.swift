import Dispatch

/// A thread of its own for calls that block, as the executor of actors.
///
/// The cooperative pool has one thread a core: on two cores, two blocking calls there stop the whole
/// program. An actor whose `unownedExecutor` is a `BlockingThread` may block; its callers only wait.
/// `DispatchSerialQueue` does not exist on Linux, so the executor wraps a serial `DispatchQueue`.
package final class BlockingThread: SerialExecutor {
  private let queue: DispatchQueue

  /// - Parameter name: shown in debuggers.
  package init(_ name: String) {
    queue = DispatchQueue(label: "handoff.\(name)")
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let executor = asUnownedSerialExecutor()
    queue.async { job.runSynchronously(on: executor) }
  }

  /// Has a blocking piece of work done here, for which nobody waits.
  package func start(_ work: @escaping @Sendable () -> Void) {
    queue.async(execute: work)
  }

  /// Runs a blocking piece of work here and returns its value; the caller's task only waits.
  ///
  /// It cannot be cancelled: what must end early needs a limit of its own.
  nonisolated(nonsending) package func run<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }
}
