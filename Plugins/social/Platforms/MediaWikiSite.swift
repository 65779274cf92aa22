import HandoffPluginKit
import HandoffProtocol

/// What a wiki says of itself.
struct MediaWikiSite: Sendable {
  /// In bytes; nil where it does not say.
  let largest: Int64?
  /// Of a chunk that is not the last, in bytes.
  let smallestChunk: Int64
  /// File endings, in lower case.
  let endings: [String]

  /// - Throws: `ResultError` where it takes no uploads now.
  init(_ session: MediaWikiSession) async throws {
    let answer = try await session.read([
      "action": "query", "meta": "siteinfo", "siprop": "general|fileextensions",
    ])
    guard let query = answer["query"], let general = query["general"] else {
      throw MediaWikiFault("nosite", "the wiki says nothing of itself")
    }
    guard general["uploadsenabled"] == .bool(true) else {
      throw ResultError.notConfigured(
        "the wiki takes no uploads",
        remedy: "The wiki's operator has to set $wgEnableUploads."
      )
    }
    if general["readonly"] == .bool(true) {
      let reason = general["readonlyreason"]?.text ?? "no reason is given"
      throw ResultError(
        .destinationUnavailable,
        "the wiki is read-only: \(reason.prefix(300))",
        effect: .none,
        retry: .later
      )
    }
    largest = general["maxuploadsize"]?.integer
    smallestChunk = max(1, general["minuploadchunksize"]?.integer ?? 1 << 20)
    guard case .array(let list) = query["fileextensions"] ?? .null else {
      endings = []
      return
    }
    endings = list.compactMap { $0["ext"]?.text?.lowercased() }
  }

  private static let containers: [(name: String, ending: String)] = [
    ("mp4", "mp4"), ("mov", "mov"), ("webm", "webm"), ("matroska", "mkv"), ("mpegts", "ts"),
    ("ogg", "ogv"), ("avi", "avi"),
  ]

  /// A wiki takes files by their endings.
  var constraints: Constraints {
    var constraints = Constraints()
    constraints.maxSize = largest
    constraints.containers = Self.containers.filter { endings.contains($0.ending) }.map(\.name)
    return constraints
  }

  /// Throws for what the wiki would refuse after the upload.
  func check(_ upload: Upload) throws(ResultError) {
    let ending = upload.contentType.ending
    guard endings.contains(ending) else {
      throw ResultError(
        .unsupportedMedia,
        "the wiki takes no .\(ending), only \(endings.joined(separator: ", "))",
        effect: .none,
        remedy: "Export a type that it takes, for example WebM for Wikimedia Commons."
      )
    }
    if let largest, upload.asset.size > largest {
      throw ResultError(
        .sizeOutOfRange,
        "the video has \(upload.asset.size) bytes, and the wiki takes at most \(largest)",
        effect: .none
      )
    }
  }
}
