package import HandoffProtocol
package import Paths

/// Something that goes wrong and may pass: who suffers from it, and what it is.
package struct Trouble: Hashable, Sendable {
  /// Who suffers.
  package enum Subject: Hashable, Sendable {
    case export(BytePath, folder: BytePath)
    case destination(DestinationName)
  }

  package var subject: Subject
  package var kind: Notice.Kind
  /// The cause: where many suffer from one, it is told once.
  package var condition: String
  package var reason: String
  /// How long it may last before it is told.
  package var patience: Duration

  package init(
    _ subject: Subject,
    _ kind: Notice.Kind,
    condition: String,
    reason: String,
    patience: Duration
  ) {
    self.subject = subject
    self.kind = kind
    self.condition = condition
    self.reason = reason
    self.patience = patience
  }

  /// Who is told besides the broker's alert: the callback of this drop folder.
  package var folder: BytePath? {
    guard case .export(_, let folder) = subject else { return nil }
    return folder
  }
}

/// Decides which troubles last long enough to be told, tells each cause once, and notices its end.
///
/// Pure: the moments come from outside, on a clock that only goes forward.
package struct TroubleTracker: Sendable {
  /// What is to be done.
  package enum Step: Hashable, Sendable {
    /// Tell it now.
    case tell(Trouble)
    /// Nobody suffers from this cause any more: it may be told anew.
    case end(String)
  }

  private struct Sufferer {
    var trouble: Trouble
    var since: Duration
    /// Its time has come, whether it was told itself or another of the same cause.
    var isTold = false
    /// It seems to be well, and counts as well from this moment on.
    var wellAt: Duration?

    /// When it is looked at next.
    var due: Duration? { wellAt ?? (isTold ? nil : since + trouble.patience) }
  }

  private struct Told: Hashable {
    var condition: String
    var folder: BytePath?
  }

  private var sufferers: [Trouble.Subject: Sufferer] = [:]
  /// How many suffer from each cause.
  private var counts: [String: Int] = [:]
  private var told: Set<Told> = []

  package init() {}

  /// The causes from which somebody suffers now.
  package var conditions: Set<String> { Set(counts.keys) }

  /// The next moment at which ``due(at:)`` has something.
  package var nextDue: Duration? {
    sufferers.values.lazy.compactMap(\.due).min()
  }

  /// Takes in that somebody suffers; that it is the same or another trouble as before does not begin
  /// its time anew.
  package mutating func suffers(_ trouble: Trouble, at now: Duration) -> [Step] {
    let earlier = sufferers[trouble.subject]
    var sufferer = earlier ?? Sufferer(trouble: trouble, since: now)
    if sufferer.trouble.kind != trouble.kind { sufferer.isTold = false }
    sufferer.trouble = trouble
    sufferer.wellAt = nil
    sufferers[trouble.subject] = sufferer
    counts[trouble.condition, default: 0] += 1
    let ended = earlier.flatMap { leave($0.trouble.condition) }
    return (ended.map { [$0] } ?? []) + due(trouble.subject, at: now)
  }

  /// Takes in that somebody seems to be well, which counts once it has lasted until a moment.
  package mutating func seemsWell(_ subject: Trouble.Subject, until moment: Duration) {
    if sufferers[subject]?.wellAt == nil { sufferers[subject]?.wellAt = moment }
  }

  /// Takes in that somebody is well, or gone.
  package mutating func isWell(_ subject: Trouble.Subject) -> [Step] {
    guard let sufferer = sufferers.removeValue(forKey: subject) else { return [] }
    return leave(sufferer.trouble.condition).map { [$0] } ?? []
  }

  /// What has lasted long enough by now.
  package mutating func due(at now: Duration) -> [Step] {
    guard let next = nextDue, next <= now else { return [] }
    return sufferers.keys.flatMap { due($0, at: now) }
  }

  private mutating func due(_ subject: Trouble.Subject, at now: Duration) -> [Step] {
    guard let sufferer = sufferers[subject], let due = sufferer.due, due <= now else { return [] }
    if sufferer.wellAt != nil { return isWell(subject) }
    sufferers[subject]?.isTold = true
    let trouble = sufferer.trouble
    let isNew = told.insert(Told(condition: trouble.condition, folder: trouble.folder)).inserted
    return isNew ? [.tell(trouble)] : []
  }

  private mutating func leave(_ condition: String) -> Step? {
    let count = (counts[condition] ?? 0) - 1
    guard count <= 0 else {
      counts[condition] = count
      return nil
    }
    counts[condition] = nil
    told = told.filter { $0.condition != condition }
    return .end(condition)
  }
}
