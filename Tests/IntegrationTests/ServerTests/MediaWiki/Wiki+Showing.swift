import Digests
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What it shows.
extension Wiki {
  /// Asks the wiki as somebody without an account.
  func query(_ parameters: [String: String]) async throws -> JSONValue {
    let all = parameters.merging(["action": "query", "format": "json", "formatversion": "2"]) {
      $1
    }
    var request = HTTPRequest("POST", "\(url)/api.php")
    request.body = .form(all.sorted { $0.key < $1.key }.map { HTTPFormPart.text($0.key, $0.value) })
    let reply = try await HTTPClient(agent: "test").exchange(request)
    let answer = try WireCoder.decode(JSONValue.self, from: reply.body)
    return try #require(answer["query"], "\(answer)")
  }

  /// The files of these bytes.
  func files(_ bytes: [UInt8]) async throws -> [JSONValue] {
    var digest = try SHA1()
    bytes.withUnsafeBytes { digest.update($0) }
    let hex = try digest.finish().map { String(Int($0) + 256, radix: 16).suffix(2) }.joined()
    let answer = try await query([
      "list": "allimages", "aisha1": hex, "aiprop": "user|comment|url|sha1",
    ])
    return answer["allimages"]?.elements ?? []
  }

  /// How often a file of this name was uploaded, also where that changed nothing to be seen.
  func uploads(of name: String) async throws -> Int {
    let answer = try await query([
      "list": "logevents", "letype": "upload", "letitle": "File:\(name)",
    ])
    return answer["logevents"]?.elements.count ?? 0
  }

  /// A page's wikitext and its categories.
  func page(_ title: String) async throws -> (text: String, categories: [String]) {
    let answer = try await query([
      "titles": title, "prop": "revisions|categories", "rvprop": "content", "rvslots": "main",
    ])
    let page = try #require(answer["pages"]?.elements.first)
    let revision = page["revisions"]?.elements.first
    let text = try #require(revision?["slots"]?["main"]?["content"]?.text, "\(page)")
    return (text, page["categories"]?.elements.compactMap { $0["title"]?.text } ?? [])
  }

  /// The bytes at one of the wiki's addresses.
  func download(_ url: String) async throws -> [UInt8] {
    try #require(url.hasPrefix(self.url))
    var request = HTTPRequest("GET", url)
    request.limits.body = 1 << 26
    let reply = try await HTTPClient(agent: "test").exchange(request)
    try #require(reply.status == 200, "\(url): \(reply.status)")
    return reply.body
  }

  /// Somebody else's upload.
  func upload(_ bytes: [UInt8], as name: BytePath) async throws {
    let number = number()
    let folder = root.appending(BytePath("import-\(number)"))
    try Directory.create(folder)
    try DurableFile.write(bytes, to: folder.appending(name))
    try await maintain(
      "importImages.php",
      "--user",
      "Other",
      "--comment",
      "by somebody else",
      folder
    )
  }
}
