package import HandoffProtocol

/// One notice as the ledger has it: what is brought to a configured callback id.
package struct Notice: Hashable, Sendable {
  /// The ledger's row: never used again, so a reader can tell a notice that comes twice.
  package struct ID: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let row: Int64

    package init(row: Int64) {
      self.row = row
    }

    /// Reads `n` and the row's number; nil for anything else.
    package init?(_ text: String) {
      guard text.hasPrefix("n"), let row = Int64(text.dropFirst()), row > 0 else { return nil }
      self.row = row
    }

    /// `n` and the row's number.
    package var description: String { "n\(row)" }

    package static func < (left: ID, right: ID) -> Bool { left.row < right.row }
  }

  /// What is told; the `kind` of the document.
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A handoff has ended.
    case result
    case outcomeUnknown = "outcome_unknown"
    case needsUser = "needs_user"
    case refusedExport = "refused_export"
    /// An export is whole and cannot be taken.
    case failedImport = "failed_import"
    /// The brake on intake is on.
    case lowSpace = "low_space"
    case destinationDown = "destination_down"
    case damagedAsset = "damaged_asset"
    /// Handoffs wait at a destination for a person's approval.
    case approval
  }

  /// How far its delivery has come.
  package enum State: String, Hashable, Sendable, Codable, CaseIterable {
    case pending
    case delivered
    /// Given up; a person may ask for it again.
    case failed
  }

  package var id: ID
  package var callback: CallbackID
  package var kind: Kind
  /// What it is about, as `h12`; notices of one subject to one callback come in order.
  package var subject: String
  /// The document.
  package var body: [String: JSONValue]
  package var state: State
  /// Tries that have failed, or the one that has not.
  package var attempts: Int
  package var createdAt: Timestamp
  /// When a pending one is tried next.
  package var dueAt: Timestamp
  package var firstAttemptAt: Timestamp?
  package var finishedAt: Timestamp?
  /// Why the last try failed.
  package var error: String?

  package init(
    id: ID,
    callback: CallbackID,
    kind: Kind,
    subject: String,
    body: [String: JSONValue],
    createdAt: Timestamp
  ) {
    self.id = id
    self.callback = callback
    self.kind = kind
    self.subject = subject
    self.body = body
    self.state = .pending
    self.attempts = 0
    self.createdAt = createdAt
    self.dueAt = createdAt
  }

  /// The document as the callback gets it: the body, and the notice's own name to know it again by.
  package var document: [String: JSONValue] {
    body.merging(["notice_id": .string(id.description)]) { _, own in own }
  }
}

/// What is to be told, before it has a row.
package struct NoticeDraft: Hashable, Sendable {
  /// Tells what has been told already, for what would be found again and again.
  package enum Condition: Hashable, Sendable {
    /// Told once for ever, as the refusal of one content.
    case once(String)
    /// Told once while it lasts; once it is over it may be told anew.
    case lasting(String)

    /// As the ledger keeps it.
    package var text: String {
      switch self {
      case .once(let text): "once:\(text)"
      case .lasting(let text): "lasting:\(text)"
      }
    }
  }

  package var kind: Notice.Kind
  package var subject: String
  /// Nil for what happens once by its nature.
  package var condition: Condition?
  package var body: [String: JSONValue]

  package init(
    _ kind: Notice.Kind,
    subject: String,
    condition: Condition? = nil,
    body: [String: JSONValue]
  ) {
    self.kind = kind
    self.subject = subject
    self.condition = condition
    self.body = body
  }
}
