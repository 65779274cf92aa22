import Digests
import FoundationEssentials

/// The signature scheme `v1` of Standard Webhooks: HMAC-SHA-256 of `id.timestamp.body`, in base64.
enum WebhookSignature {
  static let scheme = "v1"

  /// The code of a message under one key.
  ///
  /// - Throws: ``WebhookError/noDigests(_:)``.
  static func code(
    id: String,
    timestamp: Int64,
    body: [UInt8],
    secret: WebhookSecret
  ) throws(WebhookError) -> [UInt8] {
    let content = Array("\(id).\(timestamp).".utf8) + body
    do throws(DigestError) {
      return try HMACSHA256.code(of: content, key: secret.key)
    } catch {
      throw .noDigests(error.description)
    }
  }

  /// A code as it stands in the header.
  static func text(of code: [UInt8]) -> String {
    "\(scheme),\(Data(code).base64EncodedString())"
  }

  /// The codes of this scheme in a header: a list, parted by spaces, in which other schemes may be too.
  static func codes(in header: String) -> [[UInt8]] {
    header.split(separator: " ").compactMap { part in
      let halves = part.split(separator: ",", maxSplits: 1)
      guard halves.count == 2, halves[0] == scheme else { return nil }
      return Data(base64Encoded: String(halves[1])).map(Array.init)
    }
  }
}

/// Why a webhook is not taken, or cannot be signed.
public enum WebhookError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A header of this name is not there.
  case missingHeader(String)
  /// A header of this name does not hold what it should.
  case malformedHeader(String)
  /// It was sent longer ago than the tolerance allows, or was held up.
  case tooOld
  /// Its moment lies in the future: one of the two clocks is wrong.
  case tooNew
  /// None of the signatures was made with one of the secrets.
  case noSignatureFits
  /// The digest library does not work on this system.
  case noDigests(String)

  /// One clause for a person.
  public var description: String {
    switch self {
    case .missingHeader(let name): "the header \(name) is missing"
    case .malformedHeader(let name): "the header \(name) is malformed"
    case .tooOld: "the webhook's timestamp is too old"
    case .tooNew: "the webhook's timestamp lies in the future"
    case .noSignatureFits: "no signature fits"
    case .noDigests(let reason): "digests cannot be made: \(reason)"
    }
  }
}
