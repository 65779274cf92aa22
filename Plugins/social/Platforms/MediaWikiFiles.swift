import HandoffPluginKit
import HandoffProtocol

/// A file that a wiki shows.
struct MediaWikiFile: Sendable {
  /// Without its namespace.
  let name: String
  let sha1: String
  let user: String?
  let comment: String
  /// Of the file's page.
  let page: String
  /// Of the bytes.
  let bytes: String

  /// Reads an element of `allimages`, or `imageinfo` with a name.
  init?(_ value: JSONValue, name: String? = nil) {
    guard let name = name ?? value["name"]?.text, let sha1 = value["sha1"]?.text,
      let page = value["descriptionurl"]?.text, let bytes = value["url"]?.text
    else { return nil }
    self.name = name.split(separator: "_").joined(separator: " ")
    self.sha1 = sha1
    user = value["user"]?.text
    comment = value["comment"]?.text ?? ""
    self.page = Self.whole(page)
    self.bytes = Self.whole(bytes)
  }

  init?(recorded value: JSONValue) {
    self.init(value)
  }

  var recorded: JSONValue {
    .object([
      "name": .string(name), "sha1": .string(sha1), "comment": .string(comment),
      "descriptionurl": .string(page), "url": .string(bytes),
    ])
  }

  /// It was published by this handoff.
  func isOf(_ post: Post) -> Bool { comment.contains(MediaWikiPage.mark(post)) }

  /// Who has published it, for people.
  var publisher: String {
    let name = user ?? "somebody"
    return MediaWikiPage.hasMark(comment) ? "\(name), for another handoff" : name
  }

  /// What is told of it as a handoff's result.
  func receipt(_ post: Post) -> Receipt {
    var output: [String: JSONValue] = [
      "url": .string(page), "file_url": .string(bytes), "filename": .string(name),
      "sha1": .string(sha1),
    ]
    if !isOf(post) { output["adopted"] = .bool(true) }
    return Receipt(output)
  }

  /// Some wikis leave the scheme out.
  private static func whole(_ url: String) -> String { url.hasPrefix("//") ? "https:" + url : url }
}

/// Looks for files on a wiki.
struct MediaWikiFiles: Sendable {
  let session: MediaWikiSession

  /// All files of these bytes.
  func twins(_ sha1: String) async throws -> [MediaWikiFile] {
    let answer = try await session.read([
      "action": "query", "list": "allimages", "aisha1": sha1, "ailimit": "max",
      "aiprop": "user|comment|url|sha1",
    ])
    guard case .array(let list) = answer["query"]?["allimages"] ?? .null else {
      throw MediaWikiFault("nofiles", "the wiki does not list its files")
    }
    return list.compactMap { MediaWikiFile($0) }
  }

  /// What a name means to the wiki.
  enum Meaning: Sendable {
    /// Nobody has it; as the wiki writes it.
    case free(String)
    /// A file or a page has it.
    case taken
    /// It is no title.
    case invalid
  }

  func meaning(of name: String) async throws -> Meaning {
    let answer = try await session.read([
      "action": "query", "titles": "File:\(name)", "prop": "imageinfo", "iiprop": "sha1",
    ])
    guard case .array(let pages) = answer["query"]?["pages"] ?? .null, let page = pages.first,
      let title = page["title"]?.text
    else { throw MediaWikiFault("nopage", "the wiki says nothing of a title") }
    if page["invalid"] == .bool(true) { return .invalid }
    // A file of a shared repository, as those of Commons everywhere, has no page of the wiki's own.
    let isFree = page["missing"] == .bool(true) && page["imagerepository"]?.text ?? "" == ""
    guard isFree else { return .taken }
    // The namespace has another name in each language.
    let parts = title.split(separator: ":", maxSplits: 1)
    return parts.count == 2 ? .free(String(parts[1])) : .invalid
  }

  /// Of the file that has a name; nil where nobody has it.
  func sha1(ofFile name: String) async throws -> String? {
    let answer = try await session.read([
      "action": "query", "titles": "File:\(name)", "prop": "imageinfo", "iiprop": "sha1",
    ])
    guard case .array(let pages) = answer["query"]?["pages"] ?? .null,
      case .array(let versions) = pages.first?["imageinfo"] ?? .null
    else { return nil }
    return versions.first?["sha1"]?.text
  }
}
