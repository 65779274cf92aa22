/// One caller's piece of work on its way through a ``TransactionQueue``, answered exactly once.
// SAFETY: its caller hands it over through the queue's mutex and never looks at it again; from then on
// only the queue's thread does.
class Job<Context>: @unchecked Sendable {
  /// Why this piece alone was undone.
  var failure: (any Error)?

  func run(_ context: Context) throws {}

  /// Answers the caller: with the batch's failure, else with its own, else with its value.
  func resume(failing batchFailure: (any Error)?) {}
}

/// A piece of work with its kind of value.
// SAFETY: as its superclass.
final class TypedJob<Context, Value: Sendable>: Job<Context>, @unchecked Sendable {
  private let work: @Sendable (Context) throws -> Value
  private let continuation: CheckedContinuation<Value, any Error>
  private var value: Value?

  init(
    _ work: @escaping @Sendable (Context) throws -> Value,
    _ continuation: CheckedContinuation<Value, any Error>
  ) {
    self.work = work
    self.continuation = continuation
  }

  override func run(_ context: Context) throws {
    value = try work(context)
  }

  override func resume(failing batchFailure: (any Error)?) {
    if let error = batchFailure ?? failure {
      continuation.resume(throwing: error)
    } else if let value {
      continuation.resume(returning: value)
    } else {
      continuation.resume(throwing: QueueClosed())
    }
  }
}
