/// What is known of a request before its body has come.
package struct HTTPRequestHead: Sendable {
  package let method: String
  /// As it was sent, query included.
  package let target: [UInt8]
  package let headers: HTTPFields

  package init(method: String, target: [UInt8], headers: HTTPFields) {
    self.method = method
    self.target = target
    self.headers = headers
  }

  /// The target without its query, as it was sent.
  package var path: ArraySlice<UInt8> { target.prefix { $0 != UInt8(ascii: "?") } }

  /// The parts between the slashes of the path, unescaped, so that an escaped slash separates nothing.
  ///
  /// Nil where an escape is broken or the path does not begin with a slash.
  package var segments: [[UInt8]]? {
    guard path.first == UInt8(ascii: "/") else { return nil }
    let parts = path.dropFirst().split(
      separator: UInt8(ascii: "/"),
      omittingEmptySubsequences: false
    )
    var segments: [[UInt8]] = []
    for part in parts {
      guard let segment = PercentEscapes.unescaped(part) else { return nil }
      segments.append(segment)
    }
    return segments
  }

  /// The members of the query, unescaped; those whose escapes or text are broken are left out.
  package var query: HTTPFields {
    var query = HTTPFields()
    for member in target.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")) {
      let name = member.prefix { $0 != UInt8(ascii: "=") }
      let value = member.dropFirst(name.count + 1)
      guard let name = PercentEscapes.text(name, plusIsSpace: true),
        let value = PercentEscapes.text(value, plusIsSpace: true)
      else { continue }
      query.append(name, value)
    }
    return query
  }

  /// The length that the head declares for the body, in bytes; nil where it declares none.
  package var contentLength: Int64? { headers["Content-Length"].flatMap { Int64($0) } }
}

/// A request with its whole body.
package struct HTTPRequest: Sendable {
  package let head: HTTPRequestHead
  package let body: [UInt8]

  package init(head: HTTPRequestHead, body: [UInt8]) {
    self.head = head
    self.body = body
  }
}

/// Percent escapes; see RFC 3986, section 2.1.
enum PercentEscapes {
  /// Nil where an escape is broken.
  static func unescaped(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) -> [UInt8]? {
    var plain: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value)
        else { return nil }
        plain.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsSpace: plain.append(UInt8(ascii: " "))
      default: plain.append(byte)
      }
    }
    return plain
  }

  /// Nil where an escape is broken or the bytes are no UTF-8.
  static func text(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
    unescaped(bytes, plusIsSpace: plusIsSpace).flatMap { String(validating: $0, as: UTF8.self) }
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
