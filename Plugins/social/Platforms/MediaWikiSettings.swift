import HandoffPluginKit
import HandoffProtocol

/// The members of the settings table that only a wiki has.
struct MediaWikiSettings: Sendable {
  /// What happens where the wiki has the same bytes already, from somebody else or another handoff.
  enum Duplicates: String, Sendable {
    /// Nothing is published, and the twin is named.
    case refuse
    /// The twin's page is the result.
    case adopt
  }

  /// The URL of `api.php`.
  let api: String
  /// A bot password's name, as `Poster@handoff`; nil for an access token of OAuth 2.
  let user: String?
  let duplicates: Duplicates
  /// Bytes of one request; nil for what the wiki takes.
  let chunkSize: Int64?
  /// Seconds between two looks at something that the wiki still works on.
  let interval: Double
  let page: MediaWikiPage
  let fileName: MediaWikiName

  /// What is waited after each trouble in a row; 1, 2, 4 and 8 seconds with the usual interval of 2.
  var pauses: [Duration] { [0.5, 1, 2, 4].map { .seconds($0 * interval) } }

  static var schema: [String: JSONValue] {
    let text = JSONValue.object(["type": .string("string")])
    return [
      "user": text, "license": text, "summary": text, "page": text, "filename": text,
      "categories": .object(["type": .string("array"), "items": text]),
      "duplicates": .object([
        "type": .string("string"), "enum": .array([.string("refuse"), .string("adopt")]),
        "default": .string("refuse"),
      ]),
      "chunk_size": .object(["type": .string("integer"), "minimum": .integer(1)]),
    ]
  }

  init(_ settings: PlatformSettings) throws(ResultError) {
    api = settings.server.hasSuffix("/api.php") ? settings.server : settings.server + "/api.php"
    user = settings.text("user")
    if let user, !user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
      throw .notConfigured("settings.user has a control character")
    }
    let word = settings.text("duplicates") ?? "refuse"
    guard let duplicates = Duplicates(rawValue: word) else {
      throw .notConfigured("settings.duplicates is neither refuse nor adopt")
    }
    self.duplicates = duplicates
    switch settings.values["chunk_size"] {
    case nil: chunkSize = nil
    case .integer(let size) where size > 0: chunkSize = size
    default: throw .notConfigured("settings.chunk_size is no number of bytes")
    }
    interval = settings.pollInterval
    page = try MediaWikiPage(settings)
    fileName = try MediaWikiName(settings.text("filename"))
  }
}
