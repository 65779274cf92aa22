/// How often a folder was listed anew because something may have been missed, and why.
struct RescanCount: Hashable, Sendable {
  private(set) var count = 0
  private(set) var reason: String?
  /// Its root is away: it is listed when it is back.
  private var expected: String?

  mutating func add(_ reason: String) {
    count += 1
    self.reason = reason
  }

  /// The root is lost.
  mutating func expect(_ reason: String) {
    expected = reason
  }

  /// The root is there.
  mutating func arrive() {
    guard let expected else { return }
    self.expected = nil
    add("its root was away: \(expected)")
  }
}
