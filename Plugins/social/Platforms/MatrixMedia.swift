import HandoffProtocol

/// The bytes at a Matrix server: an id that was asked for first, and what was put under it.
struct MatrixMedia: Sendable {
  let server: String
  let id: String
  /// Until then the server keeps an id without bytes.
  let unusedUntil: Timestamp

  var uri: String { "mxc://\(server)/\(id)" }

  /// What was recorded; nil for anything else.
  init?(_ recorded: JSONValue?) {
    guard let uri = recorded?["mxc"]?.text else { return nil }
    let until = recorded?["unused_until"]?.text.flatMap { Timestamp(rfc3339: $0) }
    self.init(uri: uri, unusedUntil: until ?? Timestamp(milliseconds: 0))
  }

  /// What the server has given; nil for what could not stand in a path.
  init?(uri: String, unusedUntil: Timestamp) {
    let parts = uri.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "mxc:", parts[1].isEmpty, !parts[2].isEmpty,
      !parts[3].isEmpty, uri.utf8.count <= 512,
      uri.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    server = String(parts[2])
    id = String(parts[3])
    self.unusedUntil = unusedUntil
  }

  var recorded: JSONValue {
    .object(["mxc": .string(uri), "unused_until": .string(unusedUntil.rfc3339)])
  }

  /// The two parts of it in a path.
  var path: String { "\(PercentEncoding.encode(server))/\(PercentEncoding.encode(id))" }
}
