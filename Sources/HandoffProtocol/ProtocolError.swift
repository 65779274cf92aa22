/// A document or message that breaks the protocol.
public struct ProtocolError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The protocol's name for it.
  public let code: ErrorCode
  /// What is wrong, without values that may be secret.
  public let message: String

  /// Makes an error.
  public init(_ code: ErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Code and message.
  public var description: String { "\(code.text): \(message)" }
}
