public import HandoffProtocol

/// Why the broker made no handoff, or why nobody can tell.
///
/// What a receiver says is no error here: it is a ``HandoffEnd``.
public struct HandoffClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of trouble it is.
  public enum Kind: Hashable, Sendable {
    /// No broker answered for as long as ``HandoffClient/patience`` lasts; it may have made the handoff.
    case unreachable
    /// A check of the sender's side says no: no handoff was made.
    case refused
    /// There is no such asset, destination or handoff.
    case notFound
    /// The broker tried and failed.
    case failed
    /// The broker's answer cannot be read.
    case unintelligible
  }

  /// What kind of trouble it is.
  public let kind: Kind
  /// One sentence for a person; where there is a code it begins with it.
  public let message: String
  /// The protocol's own error, where it is one.
  public let error: ResultError?

  init(_ kind: Kind, _ message: String, _ error: ResultError? = nil) {
    self.kind = kind
    self.message = message
    self.error = error
  }

  init(_ error: ResultError) {
    self.init(.refused, "\(error.code): \(error.message)", error)
  }

  /// The protocol's code, where there is one.
  public var code: ErrorCode? { error?.code }

  /// When asking again makes sense, always with the same key.
  public var retry: RetryAdvice {
    switch kind {
    case .unreachable, .failed: .later
    case .unintelligible: .afterFix
    case .notFound: error?.retry ?? .never
    case .refused:
      switch error?.code {
      case .destinationUnknown, .callbackUnknown, .versionIncompatible: .afterFix
      default: error?.retry ?? .never
      }
    }
  }

  /// The message.
  public var description: String { message }
}
