/// How one check went.
package enum Verdict: Sendable {
  /// As expected.
  case passed
  /// Not made, and why: an optional part of the protocol, or something that has to be right first.
  case skipped(String)
  /// Not as expected.
  case failed(Finding)
}

/// What was wrong, in words for the plugin's author.
package struct Finding: Error, Sendable {
  /// What came instead of what was expected.
  package let got: String
  /// What to change.
  package let mend: String
  /// The messages that were exchanged, without state tokens.
  package var exchange: [String] = []

  init(_ got: String, mend: String) {
    self.got = got
    self.mend = mend
  }
}

/// A check that is not made.
struct Skip: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
