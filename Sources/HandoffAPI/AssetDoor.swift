import HTTPServer
import HandoffCore
import HandoffLog
import HandoffProtocol
import Paths

/// `GET /v3/assets/{uuid}/data`: the bytes of an asset, for whoever shows a grant.
struct AssetDoor: Sendable {
  let surroundings: APISurroundings
  let logger: Logger

  /// How soon to ask again after trouble that passes, in seconds.
  private static let recovery = 5

  func open(_ head: HTTPRequestHead, uuid: String) async throws(Problem) -> HTTPResponse {
    guard let grant = Self.grant(of: head) else {
      throw Problem(401, .auth, "a grant is missing", headers: Self.challenge)
    }
    let asset: ReadableAsset
    do {
      asset = try await surroundings.openAsset(grant, uuid)
    } catch let error as ResultError {
      if error.code == .auth { throw Problem(401, .auth, error.message, headers: Self.challenge) }
      throw Problem(error)
    } catch {
      logger.error("An asset could not be opened", [.assetID: uuid, .error: "\(error)"])
      throw Problem(
        503,
        .libraryUnavailable,
        "not to be had now; ask again",
        retryAfter: Self.recovery
      )
    }
    return try response(asset, to: head)
  }

  private func response(
    _ asset: ReadableAsset,
    to head: HTTPRequestHead
  ) throws(Problem) -> HTTPResponse {
    let tag = "\"\(asset.digest.hex)\""
    var headers: HTTPFields = [
      "Accept-Ranges": "bytes", "ETag": tag, "Content-Type": asset.contentType,
      "Content-Disposition": DownloadName.disposition(asset.name),
      "Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff",
    ]
    switch Self.range(head, tag: tag, size: asset.size) {
    case .whole:
      return HTTPResponse(200, headers, body: .file(asset.file, offset: 0, count: asset.size))
    case .part(let offset, let count):
      headers.append("Content-Range", "bytes \(offset)-\(offset + count - 1)/\(asset.size)")
      return HTTPResponse(206, headers, body: .file(asset.file, offset: offset, count: count))
    case .unsatisfiable:
      throw Problem(
        416,
        .malformedRequest,
        "the range lies outside of the asset",
        headers: ["Content-Range": "bytes */\(asset.size)"]
      )
    }
  }

  /// `Range` means something with GET only, and not where the client's part is of other bytes.
  private static func range(_ head: HTTPRequestHead, tag: String, size: Int64) -> ByteRange {
    let isOfThese = head.headers["If-Range"].map { $0 == tag } ?? true
    let asked = head.method == "GET" && isOfThese ? head.headers["Range"] : nil
    return ByteRange(asked, size: size)
  }

  private static func grant(of head: HTTPRequestHead) -> Grant? {
    if let text = head.headers["Handoff-Grant"] { return Grant(text) }
    guard let credentials = head.headers["Authorization"] else { return nil }
    let parts = credentials.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return Grant(String(parts[1]))
  }

  private static let challenge: HTTPFields = ["WWW-Authenticate": "Bearer"]
}

/// The name under which a download is kept; see RFC 6266.
enum DownloadName {
  static func disposition(_ name: BytePath) -> String {
    let plain = name.bytes.map { byte -> Character in
      let isPlain = (0x20...0x7E).contains(byte) && !#""\%"#.utf8.contains(byte)
      return isPlain ? Character(Unicode.Scalar(byte)) : "_"
    }
    let escaped = name.bytes.map { byte -> String in
      isAttributeByte(byte) ? String(Unicode.Scalar(byte)) : "%" + hexDigits(byte)
    }
    return "attachment; filename=\"\(String(plain))\"; filename*=UTF-8''\(escaped.joined())"
  }

  /// `attr-char` of RFC 8187.
  private static func isAttributeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$&+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func hexDigits(_ byte: UInt8) -> String {
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + digits : digits
  }
}
