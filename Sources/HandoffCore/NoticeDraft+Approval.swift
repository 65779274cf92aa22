package import HandoffProtocol

extension NoticeDraft {
  /// Something waits at a destination for a person's approval; told once until nothing does any more, so
  /// that a thousand exports are not a thousand notices.
  package static func approvalNeeded(_ destination: DestinationName, at: Timestamp) -> NoticeDraft {
    NoticeDraft(
      .approval,
      subject: "destination \(destination)",
      condition: approval(at: destination),
      body: [
        "kind": .string(Notice.Kind.approval.rawValue),
        "title": .string(destination.text),
        "destination": .string(destination.text),
        "result": .string("approval"),
        "reason": .string(
          "handoffs wait for a person's approval; `handoff status` lists them, "
            + "`handoff approve ID` lets one go"
        ),
        "at": .string(at.rfc3339),
      ]
    )
  }

  /// What ``approvalNeeded(_:at:)`` tells only once.
  package static func approval(at destination: DestinationName) -> Condition {
    .lasting("approval:\(destination)")
  }
}
