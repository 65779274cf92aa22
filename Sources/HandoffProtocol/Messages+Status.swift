/// The answer to `status`.
public struct StatusAnswer: Sendable, Codable {
  /// Whether handoffs can be taken now.
  public enum Standing: String, Sendable, Codable {
    case up
    case down
  }

  /// Whether handoffs can be taken now.
  public var status: Standing
  /// Why not, where it is down.
  public var reason: String?
  /// Handoffs that are being worked on.
  public var running: Int?
  /// Handoffs that were taken and wait for their turn.
  public var waiting: Int?
  /// What was looked at, where that was asked for (``StatusQuestion/checks``).
  public var checks: [DestinationCheck]?

  /// Makes an answer.
  public init(
    status: Standing,
    reason: String? = nil,
    running: Int? = nil,
    waiting: Int? = nil,
    checks: [DestinationCheck]? = nil
  ) {
    self.status = status
    self.reason = reason
    self.running = running
    self.waiting = waiting
    self.checks = checks
  }
}

/// The parameters of `status`; they may be left out.
public struct StatusQuestion: Sendable, Codable {
  /// Also look at credentials, reachability and limits, which may take seconds; nothing is published.
  public var checks: Bool

  /// Makes parameters.
  public init(checks: Bool = false) {
    self.checks = checks
  }

  /// Decodes; what is missing is not asked for.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    checks = try container.decodeIfPresent(Bool.self, forKey: .checks) ?? false
  }
}

/// One thing that a destination has looked at without doing anything: its credentials, whether its service
/// is reached, a limit, a program that it needs.
public struct DestinationCheck: Sendable, Codable, Hashable {
  /// What was looked at, in a word: `credentials`, `reachable`, `limits`, `folder`, `program`.
  public var name: String
  /// It is as it should be.
  public var passed: Bool
  /// What was found, in one sentence without a secret.
  public var detail: String
  /// What a person can do about it.
  public var remedy: String?

  /// Makes a check.
  public init(_ name: String, passed: Bool, _ detail: String, remedy: String? = nil) {
    self.name = name
    self.passed = passed
    self.detail = detail
    self.remedy = remedy
  }
}
