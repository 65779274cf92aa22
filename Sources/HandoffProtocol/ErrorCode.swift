/// Why a handoff was refused or failed. Open: a newer side may send codes that this one does not know.
public struct ErrorCode: Hashable, Sendable, Codable {
  /// The code as it stands in documents, in snake case.
  public let text: String

  /// Takes any code.
  public init(_ text: String) {
    self.text = text
  }

  public static let accessLimited = ErrorCode("access_limited")
  public static let alreadyConsumed = ErrorCode("already_consumed")
  public static let assetDamaged = ErrorCode("asset_damaged")
  public static let assetDeleted = ErrorCode("asset_deleted")
  public static let assetMissing = ErrorCode("asset_missing")
  public static let auth = ErrorCode("auth")
  public static let callbackUnknown = ErrorCode("callback_unknown")
  public static let countOutOfRange = ErrorCode("count_out_of_range")
  public static let dependencyFailed = ErrorCode("dependency_failed")
  public static let destinationUnavailable = ErrorCode("destination_unavailable")
  public static let destinationUnknown = ErrorCode("destination_unknown")
  public static let durationOutOfRange = ErrorCode("duration_out_of_range")
  public static let expired = ErrorCode("expired")
  public static let interrupted = ErrorCode("interrupted")
  public static let libraryUnavailable = ErrorCode("library_unavailable")
  public static let malformedRequest = ErrorCode("malformed_request")
  public static let malformedResult = ErrorCode("malformed_result")
  public static let network = ErrorCode("network")
  public static let notConfigured = ErrorCode("not_configured")
  public static let quota = ErrorCode("quota")
  public static let receiverCrashed = ErrorCode("receiver_crashed")
  public static let receiverFailed = ErrorCode("receiver_failed")
  public static let receiverTimeout = ErrorCode("receiver_timeout")
  public static let sizeOutOfRange = ErrorCode("size_out_of_range")
  public static let unknownState = ErrorCode("unknown_state")
  public static let unsupportedMedia = ErrorCode("unsupported_media")
  public static let versionIncompatible = ErrorCode("version_incompatible")
  public static let wrongDestination = ErrorCode("wrong_destination")

  /// Decodes the text.
  public init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  /// Encodes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension ErrorCode: CustomStringConvertible {
  /// The code's text.
  public var description: String { text }
}

/// What a failed attempt left behind at the destination.
public enum Effect: String, Hashable, Sendable, Codable {
  /// Nothing happened there: trying again is safe.
  case none
  /// What was asked has happened, though the attempt failed.
  case applied
  /// Nobody knows: only a probe or a person may decide.
  case unknown
}

/// When another attempt makes sense.
public enum RetryAdvice: String, Hashable, Sendable, Codable {
  case never
  case later
  case afterFix = "after_fix"
}
