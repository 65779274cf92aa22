import Digests
import HandoffProtocol

/// A handoff that the kit makes up: its id, its token and its request, in any version.
///
/// The document is built here member by member, so that it can also be one that no broker sends.
struct TrialRequest: Sendable {
  let id: String
  let token: String
  let videos: [TrialVideo]
  var version: Int
  var attempt = 1
  /// Members besides those of the version; they replace others.
  var members: [String: JSONValue] = [:]

  /// A token of the shape that a broker's have: a number, a dot, and 43 characters of base64url.
  ///
  /// Both cases, `-` and `_` are in each, so that what changes one of them is always seen.
  static func token() throws -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    while true {
      let code = String(try RandomBytes.make(count: 43).map { alphabet[Int($0 & 63)] })
      let isTelling =
        code.contains(where: \.isUppercase) && code.contains(where: \.isLowercase)
        && code.contains("-") && code.contains("_")
      if isTelling { return "4711." + code }
    }
  }

  /// The parameters of `submit` and `preflight`, and an element of `reconcile`.
  var parameters: JSONValue {
    .object(["handoff_id": .string(id), "request": .object(document)])
  }

  /// The parameters of `probe` and `cancel`.
  var reference: JSONValue {
    .object(["handoff_id": .string(id), "state": .string(token)])
  }

  private var document: [String: JSONValue] {
    var document: [String: JSONValue] = [
      "protocol_version": .integer(Int64(version)),
      "media_type": .string("video"),
      "state": .string(token),
      "attempt": .integer(Int64(attempt)),
    ]
    let identifiers = videos.map { JSONValue.string($0.identifier.text) }
    if version == 1 {
      document["local_identifier"] = identifiers.first
    } else {
      document["local_identifiers"] = .array(identifiers)
      document["title"] = .string("Conformance trial")
    }
    if version >= 3 { document["sync_publish"] = .bool(false) }
    return document.merging(members) { _, own in own }
  }
}
