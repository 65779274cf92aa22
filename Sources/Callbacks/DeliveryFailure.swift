/// Why a notice has not reached its callback.
package struct DeliveryFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is done about it.
  package enum Next: Hashable, Sendable {
    /// The notice is tried again, not before so many seconds.
    case again(after: Int)
    /// The other side wants no more of it: the notice is given up, and listed.
    case never
  }

  /// One sentence for a person.
  package let reason: String
  package let next: Next

  package init(_ reason: String, _ next: Next = .again(after: 0)) {
    self.reason = reason
    self.next = next
  }

  package var description: String { reason }
}
