public import HandoffProtocol

/// A handoff that the broker has made.
public struct SentHandoff: Sendable, Hashable {
  /// Where a handoff stands; see DESIGN.md, "Life of a handoff".
  public enum Status: String, Sendable, Hashable, Decodable {
    /// It waits for its turn.
    case pending
    /// An attempt is about to be made.
    case leased
    /// It was sent.
    case submitted
    /// The receiver has taken it.
    case accepted
    /// Nobody knows what the attempt left behind.
    case outcomeUnknown = "outcome_unknown"
    /// The destination waits for a person.
    case needsUser = "needs_user"
    /// It was done.
    case succeeded
    /// It was given up.
    case cancelled
    /// A check of either side has refused it.
    case refused
    /// It was not done.
    case failed
    /// No result came in time.
    case expired
  }

  /// The broker's name for it.
  public let id: String
  /// The idempotency key under which it was made.
  public let key: String?
  /// Where it goes.
  public let destination: DestinationName
  /// What is handed off.
  public let localIdentifiers: [LocalIdentifier]
  /// Where it stands.
  public let status: Status
  /// How often it was sent.
  public let attempts: Int
  /// How it ended; nil while it has not.
  public let end: HandoffEnd?
}

/// How a handoff ended.
public struct HandoffEnd: Sendable, Hashable {
  /// What became of it.
  public enum Outcome: Sendable, Hashable {
    /// Done; the output is the receiver's own, for example `url` and `id`.
    case succeeded(output: [String: JSONValue])
    /// Given up.
    case cancelled(ResultError?)
    /// A check of either side said no; nothing was done.
    case refused(ResultError)
    /// Not done, or not wholly: ``HandoffProtocol/ResultError/effect`` says what it left behind.
    case failed(ResultError)
    /// No result came in time; it may still be done.
    case expired(ResultError?)
    /// Nobody knows whether it was done: a person decides.
    case outcomeUnknown(ResultError?)
    /// The destination waits for a person.
    case needsUser(ResultError?)
  }

  /// Which side refused or failed.
  public enum Side: String, Sendable, Hashable, Decodable {
    /// The broker's checks before it sent.
    case sender
    /// The receiver.
    case receiver
    /// The broker itself.
    case broker
  }

  /// The broker's name for the handoff.
  public let id: String
  /// What became of it.
  public let outcome: Outcome
  /// Which side refused or failed, where one did.
  public let side: Side?
  /// The result's origin is known, not only its token.
  public let isVerified: Bool

  /// It was done.
  public var isSuccess: Bool {
    guard case .succeeded = outcome else { return false }
    return true
  }

  /// The error, where there is one.
  public var error: ResultError? {
    switch outcome {
    case .succeeded: nil
    case .refused(let error), .failed(let error): error
    case .cancelled(let error), .expired(let error), .outcomeUnknown(let error),
      .needsUser(let error):
      error
    }
  }
}

extension SentHandoff: Decodable {
  private enum CodingKeys: String, CodingKey {
    case id
    case key
    case destination
    case localIdentifiers = "local_identifiers"
    case status
    case attempts
    case error
    case output
    case origin
  }

  private struct Origin: Decodable {
    let side: HandoffEnd.Side?
  }

  /// Decodes the shape of CONTRACT.md, `handoffs`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    key = try container.decodeIfPresent(String.self, forKey: .key)
    destination = try container.decode(DestinationName.self, forKey: .destination)
    localIdentifiers = try container.decode([LocalIdentifier].self, forKey: .localIdentifiers)
    status = try container.decode(Status.self, forKey: .status)
    attempts = try container.decode(Int.self, forKey: .attempts)
    let error = try container.decodeIfPresent(ResultError.self, forKey: .error)
    let output = try container.decodeIfPresent([String: JSONValue].self, forKey: .output) ?? [:]
    let side = try container.decodeIfPresent(Origin.self, forKey: .error)?.side
    let origin = try container.decodeIfPresent(String.self, forKey: .origin)
    end = Self.outcome(status, error, output).map { [id] outcome in
      HandoffEnd(id: id, outcome: outcome, side: side, isVerified: origin == "verified")
    }
  }

  private static func outcome(
    _ status: Status,
    _ error: ResultError?,
    _ output: [String: JSONValue]
  ) -> HandoffEnd.Outcome? {
    let untold = ResultError(.receiverFailed, "no reason is recorded", effect: .unknown)
    return switch status {
    case .pending, .leased, .submitted, .accepted: nil
    case .succeeded: .succeeded(output: output)
    case .cancelled: .cancelled(error)
    case .refused: .refused(error ?? untold)
    case .failed: .failed(error ?? untold)
    case .expired: .expired(error)
    case .outcomeUnknown: .outcomeUnknown(error)
    case .needsUser: .needsUser(error)
    }
  }
}
