import HandoffProtocol

/// A handoff that the kit makes up: its id, its token and its request, in any version.
///
/// The document is built here member by member, so that it can also be one that no broker sends.
struct TrialRequest: Sendable {
  let id: String
  let token: String
  let video: TrialVideo
  var version: Int
  var attempt = 1
  /// Members besides those of the version; they replace others.
  var members: [String: JSONValue] = [:]

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
    let identifier = JSONValue.string(video.identifier.text)
    if version == 1 {
      document["local_identifier"] = identifier
    } else {
      document["local_identifiers"] = .array([identifier])
      document["title"] = .string("Conformance trial")
    }
    if version >= 3 { document["sync_publish"] = .bool(false) }
    return document.merging(members) { _, own in own }
  }
}
