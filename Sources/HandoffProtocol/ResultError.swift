/// Why a request did not succeed.
public struct ResultError: Hashable, Sendable, Codable, Error, CustomStringConvertible {
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

  /// The code and the sentence.
  public var description: String { message.isEmpty ? code.text : "\(code.text): \(message)" }

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
