/// Requests and results as URLs, for programs that are reached through a scheme of their own.
///
/// A request is `SCHEME://handoff?…`, a result `SCHEME://result?…` with any scheme. The members of the
/// document are members of the query under their own names, percent-encoded (RFC 3986); a list is its
/// member given several times, `metadata` is JSON, and what lies in `output` and `error` has a dot in its
/// name: `output.url`, `error.code`. Members that are not known are ignored, like those of documents.
public enum HandoffURL {
  /// The longest URL, in bytes: what RFC 9110, section 4.1, recommends that everybody supports at least.
  ///
  /// A document that does not fit is refused, never cut.
  public static let maximumSize = 8_000

  /// Writes a request as `SCHEME://handoff?…`.
  ///
  /// - Parameters:
  ///   - request: in any version.
  ///   - scheme: the receiver's own.
  /// - Returns: the URL.
  /// - Throws: ``ProtocolError`` with `malformed_request` where the request does not fit.
  public static func encode(_ request: HandoffRequest, scheme: String) throws -> String {
    let members = try members(of: request, shapes: requestShapes, .malformedRequest)
    return try text(scheme, requestHost, members, .malformedRequest)
  }

  /// Reads a request from a URL of any scheme.
  ///
  /// - Throws: ``ProtocolError`` for everything that is not exactly such a URL; it never quotes it.
  public static func decodeRequest(_ bytes: some Collection<UInt8>) throws -> HandoffRequest {
    let document: JSONValue
    do throws(URLFault) {
      let url = try parsed(bytes, host: requestHost)
      var found = MemberCollection()
      for member in url.members {
        guard let shape = requestShapes.first(where: { $0.name == member.name })?.shape else {
          continue
        }
        try found.add(member.text, member.name, shape)
      }
      document = .object(found.members)
    } catch {
      throw ProtocolError(.malformedRequest, error.text)
    }
    return try WireCoder.document(HandoffRequest.self, from: document)
  }

  /// The scheme of a request's URL without members, `SCHEME://handoff`; nil for anything else.
  package static func scheme(of base: String) -> String? {
    guard let colon = base.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let scheme = base[..<colon]
    guard DocumentURL.isScheme(scheme.utf8), base[colon...] == "://\(requestHost)" else {
      return nil
    }
    return scheme.lowercased()
  }

  static let requestHost = "handoff"

  /// In the order in which they are written.
  private static let requestShapes: [NamedShape] = [
    NamedShape("protocol_version", .integer), NamedShape("media_type", .text),
    NamedShape("local_identifier", .text), NamedShape("local_identifiers", .texts),
    NamedShape("state", .text), NamedShape("title", .text), NamedShape("sync_publish", .flag),
    NamedShape("callback_id", .text), NamedShape("expires_at", .text),
    NamedShape("attempt", .integer), NamedShape("metadata", .json),
    NamedShape("must_understand", .texts),
  ]
}

extension HandoffURL {
  /// A member of a document and how it stands in a query.
  struct NamedShape {
    let name: String
    let shape: MemberShape

    init(_ name: String, _ shape: MemberShape) {
      self.name = name
      self.shape = shape
    }
  }

  /// The members of a document as those of a query.
  static func members(
    of document: some Encodable,
    shapes: [NamedShape],
    _ code: ErrorCode
  ) throws -> [DocumentURL.Member] {
    guard case .object(var rest) = try WireCoder.value(document) else {
      throw ProtocolError(code, "no document")
    }
    var members: [DocumentURL.Member] = []
    for named in shapes {
      guard let value = rest.removeValue(forKey: named.name), value != .null else { continue }
      guard let texts = try named.shape.texts(of: value) else {
        throw ProtocolError(code, "\(named.name) cannot stand in a URL")
      }
      members += texts.map { DocumentURL.Member(name: named.name, text: $0) }
    }
    // Nothing is left out in silence.
    if let name = rest.keys.sorted().first {
      throw ProtocolError(code, "\(name) cannot stand in a URL")
    }
    return members
  }

  /// Puts a URL together that is no longer than ``maximumSize``.
  static func text(
    _ scheme: String,
    _ host: String,
    _ members: [DocumentURL.Member],
    _ code: ErrorCode
  ) throws -> String {
    guard DocumentURL.isScheme(scheme.utf8) else { throw ProtocolError(code, "no URL scheme") }
    if members.contains(where: { ($0.name + $0.text).utf8.contains(0) }) {
      throw ProtocolError(code, "a text with U+0000")
    }
    let url = DocumentURL.text(scheme: scheme.lowercased(), host: host, members: members)
    guard url.utf8.count <= maximumSize else {
      throw ProtocolError(code, "a URL of \(url.utf8.count) bytes, more than \(maximumSize)")
    }
    return url
  }

  /// Takes a URL apart that has a host.
  static func parsed(
    _ bytes: some Collection<UInt8>,
    host: String
  ) throws(URLFault) -> DocumentURL {
    let url = try DocumentURL(bytes, limit: maximumSize)
    guard url.host == host else { throw URLFault("the host of the URL is not \(host)") }
    return url
  }
}
