package import HandoffCore
package import HandoffProtocol

/// How far the delivery of one notice has come, as `status`, `show` and `why` tell it.
package struct NoticeReport: Codable, Sendable {
  package var id: String
  package var callbackID: CallbackID
  package var kind: Notice.Kind
  /// What it is about: a handoff's id, a path, a destination.
  package var subject: String
  package var state: Notice.State
  package var attempts: Int
  package var createdAt: Timestamp
  /// When it is tried next.
  @OrNull package var dueAt: Timestamp?
  @OrNull package var finishedAt: Timestamp?
  /// Why the last try failed.
  @OrNull package var error: String?

  package init(_ notice: Notice) {
    id = notice.id.description
    callbackID = notice.callback
    kind = notice.kind
    subject = notice.subject
    state = notice.state
    attempts = notice.attempts
    createdAt = notice.createdAt
    dueAt = notice.state == .pending ? notice.dueAt : nil
    finishedAt = notice.finishedAt
    error = notice.error
  }

  private enum CodingKeys: String, CodingKey {
    case id
    case callbackID = "callback_id"
    case kind
    case subject
    case state
    case attempts
    case createdAt = "created_at"
    case dueAt = "due_at"
    case finishedAt = "finished_at"
    case error
  }
}
