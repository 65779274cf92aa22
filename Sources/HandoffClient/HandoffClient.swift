import FoundationEssentials
public import HandoffProtocol
public import Paths

/// Hands assets off through the broker of this machine, and awaits what becomes of it: for senders.
///
/// A whole sender that ticks the box:
///
/// ```swift
/// import HandoffClient
/// import HandoffProtocol
///
/// @main
/// struct BoxSender {
///   static func main() async throws {
///     let client = HandoffClient(state: CommandLine.arguments[1])
///     guard let clip = LocalIdentifier(CommandLine.arguments[2]),
///       let social = DestinationName("social")
///     else { return }
///     let request = SendRequest([clip], to: social, title: "Day 1", syncPublish: true)
///     let result = try await client.send(request)
///     print(result.outcome)
///   }
/// }
/// ```
///
/// Each handoff has an idempotency key: the sender's own, or one that is made here. When the connection is
/// lost, or the broker is started again, the question is asked again with the same key, so that one handoff
/// is made, however often it is asked for. A sender that may itself be started again keeps a key of its own
/// in ``HandoffProtocol/SendRequest/key``.
public struct HandoffClient: Sendable {
  /// The broker's control socket.
  public let socket: BytePath
  /// How long a broker that cannot be reached is tried again.
  public var patience: Duration

  /// Takes the broker's state folder, as `[broker] state` has it.
  public init(state: String, patience: Duration = .seconds(60)) {
    self.init(socket: BytePath(state).appending("handoff.sock"), patience: patience)
  }

  /// Takes the path of the control socket.
  public init(socket: BytePath, patience: Duration = .seconds(60)) {
    self.socket = socket
    self.patience = patience
  }

  /// Makes a handoff and awaits its end.
  ///
  /// A handoff whose outcome is not known, or that waits for a person, counts as ended here, for nobody can
  /// say how long that lasts: ``wait(for:)``, asked later, tells what became of it.
  ///
  /// - Parameters:
  ///   - request: what is asked for.
  ///   - again: also where one of the assets has been handed off to the destination before.
  /// - Returns: how it ended.
  /// - Throws: ``HandoffClientError`` where no handoff was made or nobody can tell; `CancellationError`,
  ///   after which the handoff goes on.
  public func send(_ request: SendRequest, again: Bool = false) async throws -> HandoffEnd {
    let sent = try await submit(request, again: again)
    if let end = sent.end { return end }
    return try await wait(for: sent.id)
  }

  /// Makes a handoff without awaiting its end.
  ///
  /// - Returns: the handoff, which may have ended already if there was one with the same key.
  /// - Throws: as ``send(_:again:)``.
  public func submit(_ request: SendRequest, again: Bool = false) async throws -> SentHandoff {
    var request = request
    request.key = request.key ?? "client-\(UUID().uuidString)"
    return try await ask("send", SendQuestion(request: request, again: again))
  }

  /// Awaits the end of a handoff.
  ///
  /// - Parameter id: as ``SentHandoff/id`` has it.
  /// - Returns: how it ended, also that its outcome is not known or that it waits for a person.
  /// - Throws: as ``send(_:again:)``.
  public func wait(for id: String) async throws -> HandoffEnd {
    let handoff: SentHandoff = try await ask("wait", HandoffQuestion(handoffID: id))
    guard let end = handoff.end else {
      throw HandoffClientError(.unintelligible, "the broker answered before handoff \(id) ended")
    }
    return end
  }

  /// Wishes a handoff cancelled.
  ///
  /// - Parameter id: as ``SentHandoff/id`` has it.
  /// - Returns: where it stands now: a receiver that is at work may have done it already.
  /// - Throws: ``HandoffClientError``, ``HandoffClientError/Kind/refused`` where it has ended before.
  public func cancel(_ id: String) async throws -> SentHandoff {
    var losses = 0
    do {
      return try await ask("cancel", HandoffQuestion(handoffID: id), losses: &losses)
    } catch let error as HandoffClientError where error.kind == .refused && losses > 0 {
      // The question whose reply was lost may have ended it: that is what was wished.
      let handoff = try await ask("wait", HandoffQuestion(handoffID: id), losses: &losses)
      guard handoff.status == .cancelled else { throw error }
      return handoff
    }
  }

  private func ask(_ method: String, _ question: some Encodable) async throws -> SentHandoff {
    var losses = 0
    return try await ask(method, question, losses: &losses)
  }

  /// Asks, and asks again where the connection is lost before the answer, until the patience is over.
  ///
  /// That counts from the first loss. Only a broker that has held the question for longer than that
  /// counts as one that could be reached, since an end may be awaited for days.
  ///
  /// - Parameters:
  ///   - method: of the control socket.
  ///   - question: its parameters.
  ///   - losses: goes up by one for each.
  /// - Returns: the answer.
  /// - Throws: as ``send(_:again:)``.
  private func ask(
    _ method: String,
    _ question: some Encodable,
    losses: inout Int
  ) async throws -> SentHandoff {
    let parameters: JSONValue
    do {
      parameters = try WireCoder.value(question)
    } catch let error as ProtocolError {
      throw HandoffClientError(ResultError(error.code, error.message, effect: .none))
    }
    var lostSince: ContinuousClock.Instant?
    var pause = Duration.milliseconds(50)
    while true {
      let asked = ContinuousClock.now
      do {
        let answer = try await BrokerCall.answer(to: method, parameters, over: socket)
        return try WireCoder.document(SentHandoff.self, from: answer)
      } catch let lost as ConnectionLost {
        losses += 1
        let now = ContinuousClock.now
        if asked.duration(to: now) > patience { (lostSince, pause) = (nil, .milliseconds(50)) }
        let first = lostSince ?? now
        lostSince = first
        guard first.duration(to: now) + pause < patience else {
          throw HandoffClientError(.unreachable, "\(socket.displayText): \(lost.reason)")
        }
      } catch let error as ProtocolError {
        throw HandoffClientError(.unintelligible, error.message)
      }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .seconds(2))
    }
  }
}

/// The parameters of `send`.
private struct SendQuestion: Encodable {
  let request: SendRequest
  let again: Bool

  private enum CodingKeys: String, CodingKey {
    case again
  }

  func encode(to encoder: any Encoder) throws {
    try request.encode(to: encoder)
    guard again else { return }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(again, forKey: .again)
  }
}

/// The parameters of `wait` and `cancel`.
private struct HandoffQuestion: Encodable {
  let handoffID: String

  private enum CodingKeys: String, CodingKey {
    case handoffID = "handoff_id"
  }
}
