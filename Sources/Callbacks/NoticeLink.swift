import HandoffProtocol

/// A notice as query members of a configured URL (RFC 3986): pure.
///
/// The members of the document stand under their own names: a list is its member given several times,
/// `null` is left out, and what lies in `output` and `error` has a dot in its name: `output.url`,
/// `error.code`. Nothing of a notice comes before the query, so none can choose another address.
struct NoticeLink {
  /// The longest URL, in bytes.
  static let longest = 8000

  /// Those that come first; all others follow in the order of their names, and after them, as the first to
  /// be left out where there is no room, what lies in `output` and `error`, and lists of objects.
  private static let first = [
    "notice_id", "kind", "result", "status", "handoff_id", "key", "destination", "at",
    "local_identifiers", "title", "reason",
  ]
  /// Names the members of which something is left out, parted by commas.
  private static let omitted = "omitted"

  private let base: String

  /// - Parameter base: the configured URL; a query in it stays, and its fragment stays the last.
  init(_ base: String) {
    self.base = base
  }

  /// The URL, or nil where the configured one leaves no room for anything.
  func url(for document: [String: JSONValue]) throws -> String? {
    let parts = base.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let fragment = parts.count > 1 ? "#\(parts[1])" : ""
    let members = try Self.members(of: document)
    // Names within an output are its receiver's, and may be long; those of the document are few and short.
    let names = document.keys.sorted()
    let reserve =
      PercentEncoding.encode(names.joined(separator: ",")).utf8.count + Self.omitted.utf8.count + 2
    var query = ""
    var left: Set<String> = []
    let room = Self.longest - base.utf8.count - 1
    for member in members {
      let text = query.isEmpty ? member.text : "&\(member.text)"
      let isFitting = query.utf8.count + text.utf8.count + reserve <= room
      if isFitting { query += text } else { left.insert(member.name) }
    }
    if !left.isEmpty {
      guard !query.isEmpty else { return nil }
      query += "&\(Self.omitted)=\(PercentEncoding.encode(left.sorted().joined(separator: ",")))"
    }
    let address = String(parts.first ?? "")
    let mark = address.contains("?") ? (address.hasSuffix("?") ? "" : "&") : "?"
    return address + mark + query + fragment
  }

  /// The document's name and the query text of each member that has a value, the most important first.
  private static func members(
    of document: [String: JSONValue]
  ) throws -> [(name: String, text: String)] {
    let names = document.keys.sorted { left, right in
      (rank(left), left) < (rank(right), right)
    }
    var plain: [(name: String, text: String)] = []
    var nested: [(name: String, text: String)] = []
    for name in names {
      switch document[name] {
      case nil, .null: continue
      case .object(let members):
        for inner in members.keys.sorted() {
          guard let text = try text(members[inner] ?? .null) else { continue }
          nested.append((name, pair("\(name).\(inner)", text)))
        }
      case .array(let elements) where elements.allSatisfy({ $0.text != nil }):
        let pairs = elements.compactMap(\.text).map { pair(name, $0) }
        if !pairs.isEmpty { plain.append((name, pairs.joined(separator: "&"))) }
      case .some(let value):
        guard let text = try text(value) else { continue }
        if case .array = value {
          nested.append((name, pair(name, text)))
        } else {
          plain.append((name, pair(name, text)))
        }
      }
    }
    return plain + nested
  }

  private static func rank(_ name: String) -> Int { first.firstIndex(of: name) ?? first.count }

  /// A text as it is, everything else as JSON; nil for null.
  private static func text(_ value: JSONValue) throws -> String? {
    switch value {
    case .null: nil
    case .string(let text): text
    case .bool, .integer, .number, .array, .object:
      String(decoding: try WireCoder.encode(value), as: UTF8.self)
    }
  }

  private static func pair(_ name: String, _ text: String) -> String {
    "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(text))"
  }
}
