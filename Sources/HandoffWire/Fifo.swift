/// First in, first out; both ends in constant time over many calls, whatever is in it.
struct Fifo<Element: Sendable>: Sendable {
  private var arrived: [Element] = []
  /// The last is the next.
  private var next: [Element] = []

  var isEmpty: Bool { arrived.isEmpty && next.isEmpty }
  var count: Int { arrived.count + next.count }

  mutating func append(_ element: Element) {
    arrived.append(element)
  }

  mutating func popFirst() -> Element? {
    if next.isEmpty {
      next = arrived.reversed()
      arrived = []
    }
    return next.popLast()
  }
}
