/// A clock that nobody sets: it counts from the machine's start, also while the machine is suspended.
package struct BootClock: Sendable {
  /// Names the machine's start, so that readings of two of them are not compared.
  package let boot: String
  /// Milliseconds since that start.
  let elapsed: @Sendable () -> Int64

  package init(boot: String, elapsed: @escaping @Sendable () -> Int64) {
    self.boot = boot
    self.elapsed = elapsed
  }
}
