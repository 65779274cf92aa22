package import HandoffProtocol

/// One thing that a changed configuration does.
package struct PlanChange: Codable, Hashable, Sendable {
  /// What happens to the thing.
  package enum Action: String, Codable, Hashable, Sendable {
    case add
    case change
    case remove
    /// An open handoff is left without its destination.
    case orphan
    /// A handoff goes on that waited for its destination to be configured.
    case adopt
    /// A handoff goes to a receiver that is reached in another way.
    case reroute
    /// It changes only with the next start of the broker.
    case restart
  }

  package let action: Action
  /// `folder`, `destination`, `callback`, `handoff`, or `broker` and `library` for single keys.
  package let what: String
  package let name: String
  package let detail: String

  package init(_ action: Action, _ what: String, _ name: String, _ detail: String) {
    self.action = action
    self.what = what
    self.name = name
    self.detail = detail
  }

  /// For people.
  package var line: String { "\(action.rawValue) \(what) \(name): \(detail)" }
}

/// What became of a reload.
package struct ReloadReport: Codable, Sendable {
  package enum Outcome: String, Codable, Sendable {
    /// The file's configuration is in force.
    case applied
    /// Nothing was changed.
    case refused
  }

  package let outcome: Outcome
  /// Those that were made.
  package let changes: [PlanChange]
  /// Why it was refused, each `FILE:LINE:COLUMN: text`.
  package let problems: [String]

  package init(applied changes: [PlanChange]) {
    outcome = .applied
    self.changes = changes
    problems = []
  }

  package init(refused problems: [String]) {
    outcome = .refused
    changes = []
    self.problems = problems
  }
}

extension StatusReport {
  /// Which configuration the broker goes by.
  package struct Config: Codable, Sendable {
    package enum State: String, Codable, Sendable {
      /// It is the file's, as far as the broker was told to read it.
      case current
      /// The file was read again and refused: what was loaded before stays in force.
      case rejected
    }

    package let loadedAt: Timestamp
    package let file: String
    package let state: State
    /// Why it was refused, each `FILE:LINE:COLUMN: text`.
    package let problems: [String]

    package init(loadedAt: Timestamp, file: String, problems: [String]?) {
      self.loadedAt = loadedAt
      self.file = file
      state = problems == nil ? .current : .rejected
      self.problems = problems ?? []
    }

    private enum CodingKeys: String, CodingKey {
      case loadedAt = "loaded_at"
      case file
      case state
      case problems
    }
  }
}
