/// What a receiver answered to one request.
public struct HandoffResult: Sendable {
  /// How it ended.
  public enum Outcome: Hashable, Sendable {
    /// Done; the output is the receiver's own.
    case success(output: [String: JSONValue])
    /// Given up on purpose; the error says what is left of it.
    case cancelled(ResultError?)
    /// Not done, or not for certain.
    case failure(ResultError)
  }

  /// The version this document is written in.
  public var protocolVersion: Int
  /// The token of the request that it answers.
  public var state: StateToken
  /// How it ended.
  public var outcome: Outcome

  /// The largest document, in bytes.
  public static let maximumSize = 16_384

  /// Makes a result in the current version.
  public init(state: StateToken, outcome: Outcome) {
    self.protocolVersion = HandoffRequest.currentVersion
    self.state = state
    self.outcome = outcome
  }
}

/// Why a request did not succeed.
public struct ResultError: Hashable, Sendable, Codable, Error {
  /// The protocol's name for it.
  public var code: ErrorCode
  /// One sentence for a person.
  public var message: String
  /// What is left at the destination.
  public var effect: Effect
  /// When another attempt makes sense.
  public var retry: RetryAdvice
  /// Seconds; only with ``RetryAdvice/later``.
  public var retryAfter: Int?
  /// What a person can do about it.
  public var remedy: String?
  /// The identifier at fault, where one is.
  public var localIdentifier: LocalIdentifier?

  /// Makes an error.
  public init(
    _ code: ErrorCode,
    _ message: String,
    effect: Effect,
    retry: RetryAdvice = .never,
    retryAfter: Int? = nil,
    remedy: String? = nil,
    localIdentifier: LocalIdentifier? = nil
  ) {
    self.code = code
    self.message = message
    self.effect = effect
    self.retry = retry
    self.retryAfter = retryAfter
    self.remedy = remedy
    self.localIdentifier = localIdentifier
  }

  private enum CodingKeys: String, CodingKey {
    case code
    case message
    case effect
    case retry
    case retryAfter = "retry_after_s"
    case remedy
    case localIdentifier = "local_identifier"
  }

  /// Decodes; a missing effect counts as unknown, missing advice as never.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    code = try container.decode(ErrorCode.self, forKey: .code)
    message = try container.decodeIfPresent(String.self, forKey: .message) ?? ""
    effect = try container.decodeIfPresent(Effect.self, forKey: .effect) ?? .unknown
    retry = try container.decodeIfPresent(RetryAdvice.self, forKey: .retry) ?? .never
    retryAfter = try container.decodeIfPresent(Int.self, forKey: .retryAfter)
    guard retryAfter ?? 0 >= 0 else {
      throw ProtocolError(.malformedResult, "a negative retry_after_s")
    }
    remedy = try container.decodeIfPresent(String.self, forKey: .remedy)
    localIdentifier = try container.decodeIfPresent(LocalIdentifier.self, forKey: .localIdentifier)
  }
}

extension HandoffResult: Codable {
  private enum CodingKeys: String, CodingKey {
    case protocolVersion = "protocol_version"
    case state
    case result
    case output
    case error
  }

  /// Decodes strictly: an unknown `result`, a failure without an error, or a success with one is
  /// malformed, never success.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    protocolVersion = try container.decode(Int.self, forKey: .protocolVersion)
    guard (1...HandoffRequest.currentVersion).contains(protocolVersion) else {
      throw ProtocolError(.versionIncompatible, "result of version \(protocolVersion)")
    }
    state = try container.decode(StateToken.self, forKey: .state)
    switch try container.decode(String.self, forKey: .result) {
    case "success":
      guard try container.decodeIfPresent(JSONValue.self, forKey: .error) == nil else {
        throw ProtocolError(.malformedResult, "a success with an error")
      }
      let output = try container.decodeIfPresent([String: JSONValue].self, forKey: .output)
      outcome = .success(output: output ?? [:])
    case "cancelled":
      outcome = .cancelled(try container.decodeIfPresent(ResultError.self, forKey: .error))
    case "failure":
      outcome = .failure(try container.decode(ResultError.self, forKey: .error))
    case let other:
      throw ProtocolError(.malformedResult, "result \(other.prefix(40)) is not known")
    }
  }

  /// Encodes the document.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(protocolVersion, forKey: .protocolVersion)
    try container.encode(state, forKey: .state)
    switch outcome {
    case .success(let output):
      try container.encode("success", forKey: .result)
      try container.encode(output, forKey: .output)
    case .cancelled(let error):
      try container.encode("cancelled", forKey: .result)
      try container.encodeIfPresent(error, forKey: .error)
    case .failure(let error):
      try container.encode("failure", forKey: .result)
      try container.encode(error, forKey: .error)
    }
  }
}
