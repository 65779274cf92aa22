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

  /// Makes a result.
  ///
  /// - Parameters:
  ///   - state: the token of the request.
  ///   - outcome: how it ended.
  ///   - version: that of the request; a result in another one is malformed.
  public init(
    state: StateToken,
    outcome: Outcome,
    version: Int = HandoffRequest.currentVersion
  ) {
    self.protocolVersion = version
    self.state = state
    self.outcome = outcome
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
    guard HandoffRequest.supportedVersions.contains(protocolVersion) else {
      throw ProtocolError(
        .malformedResult,
        "result of version \(protocolVersion), which no request has"
      )
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
      throw ProtocolError(.malformedResult, "result \(other.quotedOrLength) is not known")
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

extension HandoffResult {
  /// Why this does not answer a request of a version, or nil where it does.
  ///
  /// A result carries the version of its request.
  public func violation(ofVersion version: Int) -> ProtocolError? {
    guard protocolVersion != version else { return nil }
    return ProtocolError(
      .malformedResult,
      "result of version \(protocolVersion) for a request of version \(version)"
    )
  }
}
