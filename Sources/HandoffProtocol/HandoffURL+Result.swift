extension HandoffURL {
  /// Writes a result as `SCHEME://result?…`.
  ///
  /// Members of the output that are texts are `output.NAME`; the others are together in `output`, as JSON.
  ///
  /// - Parameters:
  ///   - result: in any version.
  ///   - scheme: any; `handoff` where nobody has registered another.
  /// - Returns: the URL.
  /// - Throws: ``ProtocolError`` with `malformed_result` where the result does not fit.
  public static func encode(_ result: HandoffResult, scheme: String = "handoff") throws -> String {
    guard case .object(var document) = try value(of: result) else {
      throw ProtocolError(.malformedResult, "no document")
    }
    let output = document.removeValue(forKey: "output")
    let error = document.removeValue(forKey: "error")
    var members = try members(of: JSONValue.object(document), shapes: shapes, .malformedResult)
    members += try Self.members(ofOutput: output)
    if let error {
      members += try Self.members(of: error, shapes: errorShapes, .malformedResult).map {
        DocumentURL.Member(name: "error.\($0.name)", text: $0.text)
      }
    }
    return try text(scheme, resultHost, members, .malformedResult)
  }

  /// Reads a result from a URL of any scheme.
  ///
  /// - Throws: ``ProtocolError`` with `malformed_result` for everything that is not exactly such a URL; it
  ///   never quotes it.
  public static func decodeResult(_ bytes: some Collection<UInt8>) throws -> HandoffResult {
    try WireCoder.document(HandoffResult.self, from: resultValue(bytes))
  }

  /// The members of a result's URL as those of a document, which is not checked yet.
  package static func resultValue(_ bytes: some Collection<UInt8>) throws -> JSONValue {
    do throws(URLFault) {
      let url = try parsed(bytes, host: resultHost)
      var document = MemberCollection()
      var output = MemberCollection()
      var failure = MemberCollection()
      for member in url.members {
        if let name = part("output.", member.name) {
          try output.add(member.text, name, .text)
        } else if let name = part("error.", member.name) {
          if let shape = shape(of: name, in: errorShapes) {
            try failure.add(member.text, name, shape)
          }
        } else if member.name == "output" {
          try document.add(member.text, "output", .json)
        } else if let shape = shape(of: member.name, in: shapes) {
          try document.add(member.text, member.name, shape)
        }
      }
      return .object(try joined(document.members, output.members, failure.members))
    } catch {
      throw ProtocolError(.malformedResult, error.text)
    }
  }

  private static let resultHost = "result"

  private static let shapes: [NamedShape] = [
    NamedShape("protocol_version", .integer), NamedShape("state", .text),
    NamedShape("result", .text),
  ]

  private static let errorShapes: [NamedShape] = [
    NamedShape("code", .text), NamedShape("message", .text), NamedShape("effect", .text),
    NamedShape("retry", .text), NamedShape("retry_after_s", .integer), NamedShape("remedy", .text),
    NamedShape("local_identifier", .text),
  ]

  private static func value(of result: HandoffResult) throws -> JSONValue {
    do {
      return try WireCoder.value(result)
    } catch let error as ProtocolError {
      // A text that no document may hold: here it is the result's fault.
      throw ProtocolError(.malformedResult, error.message)
    }
  }

  private static func members(ofOutput output: JSONValue?) throws -> [DocumentURL.Member] {
    guard case .object(let output) = output else { return [] }
    var members: [DocumentURL.Member] = []
    var others: [String: JSONValue] = [:]
    for (name, value) in output.sorted(by: { $0.key < $1.key }) {
      if let text = value.text, !name.isEmpty {
        members.append(DocumentURL.Member(name: "output.\(name)", text: text))
      } else {
        others[name] = value
      }
    }
    guard !others.isEmpty else { return members }
    let json = String(decoding: try WireCoder.encode(others), as: UTF8.self)
    return members + [DocumentURL.Member(name: "output", text: json)]
  }

  /// What follows a prefix in a name; nil where nothing does.
  private static func part(_ prefix: String, _ name: String) -> String? {
    name.hasPrefix(prefix) && name != prefix ? String(name.dropFirst(prefix.count)) : nil
  }

  private static func shape(of name: String, in shapes: [NamedShape]) -> MemberShape? {
    shapes.first { $0.name == name }?.shape
  }

  private static func joined(
    _ document: [String: JSONValue],
    _ texts: [String: JSONValue],
    _ error: [String: JSONValue]
  ) throws(URLFault) -> [String: JSONValue] {
    var document = document
    if !texts.isEmpty {
      guard case .object(let others) = document["output"] ?? .object([:]) else {
        throw URLFault("output: not an object")
      }
      guard others.keys.allSatisfy({ texts[$0] == nil }) else {
        throw URLFault("a member given twice")
      }
      document["output"] = .object(others.merging(texts) { first, _ in first })
    }
    if !error.isEmpty { document["error"] = .object(error) }
    return document
  }
}
