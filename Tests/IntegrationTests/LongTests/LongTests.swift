import LinuxSystem
import Testing

/// The tests that `make test-long` runs in full, with `HANDOFF_LONG`; `make test` runs a small part of
/// each.
@Suite("Long tests")
enum LongTests {
  static let isLong = environmentValue("HANDOFF_LONG") != nil

  /// The seed given as `SEED`, else one that changes with each run; it is printed.
  static let seed: UInt64 =
    environmentValue("SEED").flatMap { UInt64($0) } ?? UInt64.random(in: 1...999_999)
}
