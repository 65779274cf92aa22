/// The check that packets reach as far as the header promises.
///
/// Some writers put the final duration in the header at once; then a file with less of it is a part.
package enum DurationCheck {
  /// - Parameters:
  ///   - declared: what the header says, in seconds.
  ///   - seen: when the last packet ends, in seconds.
  /// - Returns: the reason why packets are missing; nil if none seem to be.
  package static func shortfall(declared: Double?, seen: Double?) -> String? {
    guard let declared, let seen, seen < declared - max(1, declared * 0.02) else { return nil }
    return "packets end at \(seconds(seen)), but \(seconds(declared)) are declared"
  }

  private static func seconds(_ value: Double) -> String {
    "\((value * 1_000).rounded() / 1_000) s"
  }
}
