/// Why a notice has not reached its callback; the notice is tried again.
package struct DeliveryFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// One sentence for a person.
  package let reason: String

  package init(_ reason: String) {
    self.reason = reason
  }

  package var description: String { reason }
}
