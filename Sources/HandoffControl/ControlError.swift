package import HandoffProtocol

/// Why the broker did not answer a question, or refused what it was asked.
package struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: Int, Hashable, Sendable, CaseIterable {
    /// No broker runs, or it is stopping.
    case unavailable = -32_010
    /// What the question is about does not exist.
    case notFound = -32_011
    /// A check refused it.
    case refused = -32_012
    /// It was tried and failed.
    case failed = -32_013
    /// It came after the end of what it is about.
    case expired = -32_014
  }

  package let code: Code
  package let message: String
  /// The protocol's own error, where it is one.
  package let reason: ResultError?

  package init(_ code: Code, _ message: String, _ reason: ResultError? = nil) {
    self.code = code
    self.message = message
    self.reason = reason
  }

  /// A check of the sender's side says no; the message begins with the protocol's code.
  package init(refusal: ResultError, _ code: Code = .refused) {
    self.init(code, "\(refusal.code): \(refusal.message)", refusal)
  }

  package var description: String { message }
}
