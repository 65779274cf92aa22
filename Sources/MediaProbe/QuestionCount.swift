import Synchronization

/// Counts the questions that a worker has been sent; read from any thread while the worker's own waits.
final class QuestionCount: Sendable {
  private let value = Atomic<Int>(0)

  var count: Int { value.load(ordering: .relaxed) }

  func increment() {
    value.add(1, ordering: .relaxed)
  }
}
