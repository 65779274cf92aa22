/// What one check found.
package struct Finding: Hashable, Sendable {
  /// How the check ended, from best to worst.
  package enum Outcome: Int, Hashable, Sendable, Comparable {
    /// What was looked for is there.
    case passed
    /// Nothing is wrong, but the same would be seen of a copy that stopped here.
    case notProvable
    /// Whole or not, the file cannot be handed off.
    case unsuitable
    /// Something that a finished export has is missing.
    case incomplete

    package static func < (left: Outcome, right: Outcome) -> Bool { left.rawValue < right.rawValue }
  }

  package let outcome: Outcome
  /// One sentence for a person.
  package let detail: String

  package init(_ outcome: Outcome, _ detail: String) {
    self.outcome = outcome
    self.detail = detail
  }

  /// The file may still be taken.
  package var isAcceptable: Bool { outcome <= .notProvable }
}
