import Digests
public import HandoffProtocol

/// A handoff as its receiver sees it: the request without the state token.
public struct ReceivedHandoff: Sendable {
  /// The broker's name for it: fit for a file name, the same over attempts and restarts.
  public let id: String
  /// What to do it with; at least one.
  public let localIdentifiers: [LocalIdentifier]
  /// For people; not a file name.
  public let title: String?
  /// The sender ticked "also publish".
  public let syncPublish: Bool
  /// Counts from 1.
  public let attempt: Int
  /// After this moment no result counts.
  public let expiresAt: Timestamp?
  /// The sender's own.
  public let metadata: JSONValue?
  /// A key for services that do a request with a known key only once: 64 hexadecimal digits, the same
  /// over attempts and restarts.
  ///
  /// It may be shown to them: the state token cannot be found from it.
  public let idempotencyKey: String

  let state: StateToken
  /// The version of the request, in which its result answers.
  let version: Int
  /// The request document without its `state`.
  let document: [String: JSONValue]

  init(_ parameters: SubmitParameters) throws {
    let request = parameters.request
    id = parameters.handoffID
    localIdentifiers = request.localIdentifiers
    title = request.title
    syncPublish = request.syncPublish
    attempt = request.attempt
    expiresAt = request.expiresAt
    metadata = request.metadata
    state = request.state
    version = request.protocolVersion
    idempotencyKey = try Self.idempotencyKey(of: request.state)
    guard case .object(var members) = try WireCoder.value(request) else {
      throw ProtocolError(.malformedRequest, "not an object")
    }
    members["state"] = nil
    document = members
  }

  /// The result document.
  func result(_ outcome: HandoffResult.Outcome) -> HandoffResult {
    HandoffResult(state: state, outcome: outcome, version: version)
  }

  /// A digest of the token, with a label, so that it is no other digest of it.
  static func idempotencyKey(of state: StateToken) throws -> String {
    let label = "handoff idempotency key 1\n"
    return try SHA256.digest(of: Array((label + state.revealed).utf8)).hexDigits
  }
}
