/// A URL that carries a document: `SCHEME://HOST?NAME=TEXT&…`, and nothing else.
struct DocumentURL {
  /// One member of the query, decoded.
  struct Member {
    let name: String
    let text: String
  }

  let scheme: String
  /// In lower case.
  let host: String
  let members: [Member]

  /// Takes a URL apart (RFC 3986); a user, a port, a path, a fragment and characters that are to be
  /// percent-encoded are refused.
  init(_ bytes: some Collection<UInt8>, limit: Int) throws(URLFault) {
    guard bytes.count <= limit else {
      throw URLFault("a URL of \(bytes.count) bytes, more than \(limit)")
    }
    let bytes = Array(bytes)
    guard bytes.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw URLFault("a URL has printable ASCII characters only")
    }
    if bytes.contains(UInt8(ascii: "#")) { throw URLFault("a URL with a fragment") }
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), Self.isScheme(bytes[..<colon]) else {
      throw URLFault("no URL: it has no scheme")
    }
    scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    let rest = bytes[(colon + 1)...]
    guard rest.starts(with: "//".utf8) else { throw URLFault("a URL without a host") }
    guard let question = rest.firstIndex(of: UInt8(ascii: "?")) else {
      throw URLFault("a URL without a query")
    }
    host = try Self.host(rest[..<question].dropFirst(2))
    members = try Self.members(rest[(question + 1)...])
  }

  /// Puts a URL together.
  static func text(scheme: String, host: String, members: [Member]) -> String {
    let query = members.map {
      "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.text))"
    }
    return "\(scheme)://\(host)?\(query.joined(separator: "&"))"
  }

  /// A letter, then letters, digits, `+`, `-` and `.`.
  static func isScheme(_ bytes: some Collection<UInt8>) -> Bool {
    guard let first = bytes.first, first.isLetterOrDigit, !(48...57).contains(first) else {
      return false
    }
    return bytes.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
  }

  private static func host(_ bytes: ArraySlice<UInt8>) throws(URLFault) -> String {
    // Programs that tidy URLs write the empty path as a slash.
    let authority = bytes.last == UInt8(ascii: "/") ? bytes.dropLast() : bytes
    if authority.contains(UInt8(ascii: "@")) { throw URLFault("a URL with a user") }
    if authority.contains(UInt8(ascii: ":")) { throw URLFault("a URL with a port") }
    if authority.contains(UInt8(ascii: "/")) { throw URLFault("a URL with a path") }
    return String(decoding: authority, as: UTF8.self).lowercased()
  }

  private static func members(_ query: ArraySlice<UInt8>) throws(URLFault) -> [Member] {
    var members: [Member] = []
    for piece in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
      guard let equals = piece.firstIndex(of: UInt8(ascii: "=")), equals > piece.startIndex else {
        throw URLFault("a query member without a name or without an equals sign")
      }
      members.append(
        Member(
          name: try PercentEncoding.decode(piece[..<equals]),
          text: try PercentEncoding.decode(piece[(equals + 1)...])
        )
      )
    }
    return members
  }
}
