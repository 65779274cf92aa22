import Synchronization

/// Collects values from any thread: log records (`Logger(sink: captured.append)`), calls, events.
package final class Captured<Element: Sendable>: Sendable {
  private let values = Mutex<[Element]>([])

  package init() {}

  /// Everything so far, in order.
  package var all: [Element] { values.withLock { $0 } }

  @Sendable package func append(_ element: Element) {
    values.withLock { $0.append(element) }
  }
}
