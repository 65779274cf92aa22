package import HandoffProtocol
package import Paths

/// The documents of each kind of notice.
///
/// Every one has `kind`, `title`, `result`, `reason` and `at`, so that one command line fits all.
extension NoticeDraft {
  /// The longest text of one member, in bytes of UTF-8.
  package static let longestText = 4096
  /// The longest output of a receiver that goes along, in bytes of JSON.
  package static let longestOutput = 32_768

  /// The end of a handoff, for its sender.
  ///
  /// One that expired is a failure with the code `expired`.
  ///
  /// - Parameters:
  ///   - handoff: as it is now.
  ///   - outputSize: of its output as JSON; too much is left out, and said so.
  ///   - at: when it ended.
  /// - Returns: the notice; each end of a handoff is one.
  package static func result(
    of handoff: Handoff,
    outputSize: Int,
    at: Timestamp
  ) -> NoticeDraft {
    var body = members(of: handoff, at: at)
    body["result"] = .string(handoff.result ?? "failure")
    if outputSize <= longestOutput {
      body["output"] = .object(handoff.output)
    } else {
      body["output"] = .null
      body["output_omitted"] = .bool(true)
    }
    return NoticeDraft(.result, subject: handoff.id.description, body: body)
  }

  /// A handoff that waits for a person: its outcome is unknown, or its destination asks for one.
  package static func doubt(about handoff: Handoff, at: Timestamp) -> NoticeDraft {
    let kind = handoff.status == .needsUser ? Notice.Kind.needsUser : .outcomeUnknown
    var body = members(of: handoff, at: at)
    body["kind"] = .string(kind.rawValue)
    body["result"] = .string(kind.rawValue)
    if kind == .needsUser {
      body["needs_user"] = .orNull(handoff.userNeed.map(clipped))
      body["reason"] = .string("the destination waits for a person")
    } else if handoff.error == nil {
      body["reason"] = .string("nobody knows what the attempt left behind")
    }
    // What the receiver asks of a person is told once for each attempt.
    let need = "\(handoff.id):\(handoff.attempts):\(handoff.userNeed ?? "")"
    return NoticeDraft(
      kind,
      subject: handoff.id.description,
      condition: kind == .needsUser ? .once("needs_user:\(need)") : nil,
      body: body
    )
  }

  private static func members(of handoff: Handoff, at: Timestamp) -> [String: JSONValue] {
    [
      "kind": .string(Notice.Kind.result.rawValue),
      "key": .orNull(handoff.key),
      "handoff_id": .string(handoff.id.description),
      "local_identifiers": .array(handoff.localIdentifiers.map { .string($0.text) }),
      "title": .orNull(handoff.title),
      "destination": .string(handoff.destination.text),
      "status": .string(handoff.status.rawValue),
      "error": handoff.error.map { document($0, handoff.side) } ?? .null,
      "reason": .orNull(handoff.error.map { clipped($0.message) }),
      "at": .string(at.rfc3339),
    ]
  }

  private static func document(_ error: ResultError, _ side: Handoff.Side?) -> JSONValue {
    .object([
      "code": .string(error.code.text),
      "message": .string(clipped(error.message)),
      "effect": .string(error.effect.rawValue),
      "side": .orNull(side?.rawValue),
      "local_identifier": .orNull(error.localIdentifier?.text),
      "remedy": .orNull(error.remedy.map(clipped)),
    ])
  }

  /// An export that was turned down; one content is told once for each reason.
  ///
  /// - Parameters:
  ///   - change: the path and the reason.
  ///   - identity: nil where the file is gone again.
  ///   - evidence: all checks.
  ///   - at: when it was refused.
  /// - Returns: the notice.
  package static func refusedExport(
    _ change: CandidateChange,
    _ identity: FileIdentity?,
    evidence: [Evidence],
    at: Timestamp
  ) -> NoticeDraft {
    let reason = clipped(change.reason ?? "no reason is known")
    var body = members(.refusedExport, of: change, reason: reason, at: at)
    body["result"] = .string("refused")
    body["evidence"] = .array(evidence.prefix(32).map(document))
    return NoticeDraft(
      .refusedExport,
      subject: change.path.lossyText,
      condition: .once("refused_export:\(name(change.path, identity)):\(reason)"),
      body: body
    )
  }

  private static func members(
    _ kind: Notice.Kind,
    of change: CandidateChange,
    reason: String,
    at: Timestamp
  ) -> [String: JSONValue] {
    var members: [String: JSONValue] = [
      "kind": .string(kind.rawValue),
      "title": .string(change.path.lastComponent.lossyText),
      "path": .string(change.path.lossyText),
      "folder": .string(change.folder.lossyText),
      "reason": .string(reason),
      "at": .string(at.rfc3339),
    ]
    if let bytes = change.path.base64UnlessText { members["path_bytes"] = .string(bytes) }
    return members
  }

  private static func document(_ evidence: Evidence) -> JSONValue {
    .object([
      "check": .string(evidence.check.rawValue),
      "passed": .bool(evidence.passed),
      "detail": .string(clipped(evidence.detail)),
      "since": .orNull(evidence.since?.rfc3339),
    ])
  }

  private static func name(_ path: BytePath, _ identity: FileIdentity?) -> String {
    let name = path.exactText ?? path.base64UnlessText ?? ""
    guard let identity else { return name }
    return "\(identity.inode):\(identity.size):\(identity.modified):\(name)"
  }

  /// What has gone wrong for longer, with exports, space or a destination.
  package static func trouble(_ trouble: Trouble, at: Timestamp) -> NoticeDraft {
    let reason = clipped(trouble.reason)
    switch trouble.subject {
    case .export(let path, let folder):
      let change = CandidateChange(path: path, folder: folder, state: .importing)
      var body = members(trouble.kind, of: change, reason: reason, at: at)
      body["result"] = .string(trouble.kind == .lowSpace ? "low_space" : "failed")
      return NoticeDraft(
        trouble.kind,
        subject: trouble.kind == .lowSpace ? "library" : path.lossyText,
        condition: .lasting(trouble.condition),
        body: body
      )
    case .destination(let destination):
      return NoticeDraft(
        trouble.kind,
        subject: "destination \(destination)",
        condition: .lasting(trouble.condition),
        body: [
          "kind": .string(trouble.kind.rawValue),
          "title": .string(destination.text),
          "destination": .string(destination.text),
          "result": .string("down"),
          "reason": .string(reason),
          "at": .string(at.rfc3339),
        ]
      )
    }
  }

  /// An asset whose stored bytes are not those that were imported; told once until it is sound again.
  package static func damagedAsset(_ identifier: LocalIdentifier, at: Timestamp) -> NoticeDraft {
    NoticeDraft(
      .damagedAsset,
      subject: identifier.text,
      condition: damage(of: identifier),
      body: [
        "kind": .string(Notice.Kind.damagedAsset.rawValue),
        "title": .string(identifier.text),
        "local_identifiers": .array([.string(identifier.text)]),
        "result": .string("damaged"),
        "reason": .string(
          "its stored bytes are not those that were imported; it is not handed off"
        ),
        "at": .string(at.rfc3339),
      ]
    )
  }

  /// What ``damagedAsset(_:at:)`` tells only once.
  package static func damage(of identifier: LocalIdentifier) -> Condition {
    .lasting("damaged_asset:\(identifier)")
  }

  /// The text, cut where it is too long for a notice.
  static func clipped(_ text: String) -> String {
    guard text.utf8.count > longestText else { return text }
    var end = text.utf8.index(text.utf8.startIndex, offsetBy: longestText)
    while String.Index(end, within: text) == nil { end = text.utf8.index(before: end) }
    return text[..<end] + "…"
  }
}

extension JSONValue {
  fileprivate static func orNull(_ text: String?) -> JSONValue {
    text.map(JSONValue.string) ?? .null
  }
}
