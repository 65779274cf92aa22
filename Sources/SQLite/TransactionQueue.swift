import Dispatch
import Glibc
import LinuxSystem
import Synchronization

/// Group commit: many callers share one durable transaction, on one thread of its own.
///
/// The first caller begins a transaction; who comes while it is open joins it, each in a savepoint
/// of its own, so that an error undoes only its own work; it is committed once nobody comes any more
/// (after a few rounds), and then all are answered. A failed commit fails all of them.
///
/// The queue is bounded by its callers: each waits for its own answer. Cancelling a waiting task does
/// not undo its work.
package final class TransactionQueue<Context>: Sendable {
  /// What the owner does on the queue's thread, where the context lives.
  package struct Hooks: Sendable {
    /// A piece of work is about to begin.
    package var willRun: @Sendable (Context) -> Void
    /// That piece of work has been undone.
    package var didUndo: @Sendable (Context) -> Void
    /// Everything until here is durable; the callers are answered after this.
    package var didCommit: @Sendable (Context) -> Void
    /// The batch failed, or nobody knows: what was remembered must be read anew.
    package var didFail: @Sendable (Context) -> Void

    package init(
      willRun: @escaping @Sendable (Context) -> Void,
      didUndo: @escaping @Sendable (Context) -> Void,
      didCommit: @escaping @Sendable (Context) -> Void,
      didFail: @escaping @Sendable (Context) -> Void
    ) {
      self.willRun = willRun
      self.didUndo = didUndo
      self.didCommit = didCommit
      self.didFail = didFail
    }
  }

  private struct State: ~Copyable {
    var waiting: [Job<Context>] = []
    var isDraining = false
    var isClosed = false
  }

  private let queue: DispatchQueue
  private let state = Mutex(State())
  // SAFETY: both are used only by `drain` and `close`, on `queue`, which is serial; and by deinit.
  nonisolated(unsafe) private let connection: Connection
  nonisolated(unsafe) private let context: Context
  private let hooks: Hooks
  private let operationPoint: String
  private let commitPoint: String
  /// Bounds how long the first of a batch waits for the last.
  private static var batchLimit: Int { 1024 }
  private static var idleRounds: Int { 3 }

  /// - Parameters:
  ///   - name: shown in debuggers, and the first part of the fault points `NAME.operation` and
  ///     `NAME.commit`.
  ///   - context: given away: nobody else uses it, or its connection, from now on.
  ///   - connection: finds the connection in the context.
  ///   - hooks: what keeps the context in step with commits and rollbacks.
  package init(
    _ name: String,
    context: sending Context,
    connection: (Context) -> Connection,
    hooks: Hooks
  ) {
    queue = DispatchQueue(label: "handoff.\(name)")
    self.connection = connection(context)
    self.context = context
    self.hooks = hooks
    operationPoint = "\(name).operation"
    commitPoint = "\(name).commit"
  }

  /// Runs work in a transaction and returns once it is durable.
  ///
  /// - Throws: what the work threw, with nothing of it kept; or the error of the commit. After an
  ///   error of the commit the work is not kept either, unless the error came after it was done:
  ///   who repeats it must be able to find it done.
  package func run<Value: Sendable>(
    _ work: @escaping @Sendable (Context) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      enqueue(TypedJob(work, continuation))
    }
  }

  /// Waits for what was handed in, then closes the connection.
  ///
  /// Later work is refused.
  package func close() async throws {
    state.withLock { $0.isClosed = true }
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(with: Result { try self.connection.close() })
      }
    }
  }

  private func enqueue(_ job: Job<Context>) {
    let next: Arrival = state.withLock { state in
      if state.isClosed { return .refuse }
      state.waiting.append(job)
      if state.isDraining { return .wait }
      state.isDraining = true
      return .drain
    }
    switch next {
    case .wait: break
    case .drain: queue.async { self.drain() }
    case .refuse: job.resume(failing: QueueClosed())
    }
  }

  /// On the queue: transaction after transaction until nobody waits.
  private func drain() {
    while true {
      let jobs = state.withLock { state in
        if state.waiting.isEmpty { state.isDraining = false }
        return Self.take(from: &state, atMost: Self.batchLimit)
      }
      if jobs.isEmpty { return }
      transact(jobs)
    }
  }

  private static func take(from state: inout State, atMost count: Int) -> [Job<Context>] {
    if state.waiting.count <= count {
      defer { state.waiting = [] }
      return state.waiting
    }
    defer { state.waiting.removeFirst(count) }
    return Array(state.waiting.prefix(count))
  }

  private func transact(_ first: [Job<Context>]) {
    var batch = first
    do {
      try connection.run(Connection.begin)
      var next = first[...]
      while !next.isEmpty {
        for job in next { try run(job) }
        next = more(limit: Self.batchLimit - batch.count)
        batch += next
      }
      try FaultPlan.current.pass(commitPoint)
      try connection.run(Connection.commit)
      try FaultPlan.current.pass(commitPoint)
      hooks.didCommit(context)
      for job in batch { job.resume(failing: nil) }
    } catch {
      let failure = rollBack(after: error)
      hooks.didFail(context)
      for job in batch { job.resume(failing: failure) }
    }
  }

  /// Runs one piece of work; throws only what fails the whole batch.
  private func run(_ job: Job<Context>) throws {
    hooks.willRun(context)
    do {
      try connection.savepoint {
        try FaultPlan.current.pass(operationPoint)
        try job.run(context)
      }
    } catch {
      if connection.isOutsideTransaction { throw error }
      job.failure = error
      hooks.didUndo(context)
    }
  }

  /// Who has come in the meantime.
  ///
  /// On two cores the callers that were just answered need a moment.
  private func more(limit: Int) -> ArraySlice<Job<Context>> {
    guard limit > 0 else { return [] }
    for _ in 0..<Self.idleRounds {
      let jobs = state.withLock { Self.take(from: &$0, atMost: limit) }
      if !jobs.isEmpty { return jobs[...] }
      sched_yield()
    }
    return []
  }

  private func rollBack(after error: any Error) -> any Error {
    do {
      if !connection.isOutsideTransaction { try connection.run(Connection.rollBack) }
      return error
    } catch let second {
      return RollbackFailed(cause: error, failure: second)
    }
  }
}

/// What follows from handing in a piece of work.
private enum Arrival {
  /// The open or coming transaction takes it.
  case wait
  /// Nobody drains the queue yet.
  case drain
  /// The queue is closed.
  case refuse
}

/// The queue takes no more work.
package struct QueueClosed: Error, Hashable, Sendable, CustomStringConvertible {
  package init() {}

  package var description: String { "the database is closed" }
}

/// A transaction could not even be rolled back; the next one finds that out again.
package struct RollbackFailed: Error, Sendable, CustomStringConvertible {
  package let cause: any Error
  package let failure: any Error

  package var description: String { "\(cause); then the rollback failed: \(failure)" }
}
