/// Why a handoff was refused or failed.
///
/// Open: a newer side may send codes that this one does not know.
public struct ErrorCode: Hashable, Sendable, Codable {
  /// The code as it stands in documents, in snake case.
  public let text: String

  /// Takes any code.
  public init(_ text: String) {
    self.text = text
  }

  /// The assets have been handed off to the destination, or still may be: once more only on purpose.
  public static let alreadyHandedOff = ErrorCode("already_handed_off")
  /// The destination may not read this asset.
  public static let accessLimited = ErrorCode("access_limited")
  /// The state token has had its result.
  public static let alreadyConsumed = ErrorCode("already_consumed")
  /// The stored bytes are not those that were imported.
  public static let assetDamaged = ErrorCode("asset_damaged")
  /// The asset was deleted; a tombstone is left.
  public static let assetDeleted = ErrorCode("asset_deleted")
  /// The library has no such asset.
  public static let assetMissing = ErrorCode("asset_missing")
  /// The service behind the destination does not accept the credentials.
  public static let auth = ErrorCode("auth")
  /// The callback id is not configured.
  public static let callbackUnknown = ErrorCode("callback_unknown")
  /// More assets in one request, or fewer, than the destination takes.
  public static let countOutOfRange = ErrorCode("count_out_of_range")
  /// A destination that had to succeed first did not.
  public static let dependencyFailed = ErrorCode("dependency_failed")
  /// The destination cannot be reached, or not now.
  public static let destinationUnavailable = ErrorCode("destination_unavailable")
  /// No destination of that name is configured.
  public static let destinationUnknown = ErrorCode("destination_unknown")
  /// Longer or shorter than the destination takes.
  public static let durationOutOfRange = ErrorCode("duration_out_of_range")
  /// The moment after which no result counts has passed.
  public static let expired = ErrorCode("expired")
  /// The attempt was stopped before it ended.
  public static let interrupted = ErrorCode("interrupted")
  /// The sender's idempotency key belongs to a handoff with another body.
  public static let keyReused = ErrorCode("key_reused")
  /// The library's file system is away.
  public static let libraryUnavailable = ErrorCode("library_unavailable")
  /// The request breaks the protocol.
  public static let malformedRequest = ErrorCode("malformed_request")
  /// The result breaks the protocol; never a success.
  public static let malformedResult = ErrorCode("malformed_result")
  /// The service behind the destination cannot be reached.
  public static let network = ErrorCode("network")
  /// The library has no room for a rendition now.
  public static let noSpace = ErrorCode("no_space")
  /// The destination lacks a setting that it needs.
  public static let notConfigured = ErrorCode("not_configured")
  /// A limit on how much or how often; it passes with time.
  public static let quota = ErrorCode("quota")
  /// The receiver ended before its result.
  public static let receiverCrashed = ErrorCode("receiver_crashed")
  /// The receiver failed in a way that it has no code for.
  public static let receiverFailed = ErrorCode("receiver_failed")
  /// No sign of life from the receiver for too long.
  public static let receiverTimeout = ErrorCode("receiver_timeout")
  /// More bytes than the destination takes.
  public static let sizeOutOfRange = ErrorCode("size_out_of_range")
  /// No handoff has this state token.
  public static let unknownState = ErrorCode("unknown_state")
  /// Its export was exported again, and the newer asset is handed off instead.
  public static let superseded = ErrorCode("superseded")
  /// A kind of media, codec, container or picture size that is not taken.
  public static let unsupportedMedia = ErrorCode("unsupported_media")
  /// The sides have no protocol version in common that can carry this.
  public static let versionIncompatible = ErrorCode("version_incompatible")
  /// The state token is another destination's.
  public static let wrongDestination = ErrorCode("wrong_destination")

  /// Decodes 1 to 64 of `a-z 0-9 _`.
  public init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
    let allowed = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"):
        true
      default:
        false
      }
    }
    guard allowed, (1...64).contains(text.utf8.count) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not an error code")
      )
    }
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
  /// The same request will fail again.
  case never
  /// By itself, after a while.
  case later
  /// After a person has mended something.
  case afterFix = "after_fix"
}
