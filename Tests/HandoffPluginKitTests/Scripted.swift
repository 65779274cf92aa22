import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

@testable import HandoffPluginKit

/// What the destination under test does.
struct Script: Sendable {
  var receive: @Sendable (ReceivedHandoff, ReceiveContext) async throws -> Receipt = { _, _ in
    Receipt()
  }
  var resume: (@Sendable (ReceivedHandoff, ReceiveContext) async throws -> Resumption)?

  private static let all = Mutex<[Script]>([])

  /// Makes it known, and the settings that name it.
  func settings() -> JSONValue {
    let place = Script.all.withLock { all in
      all.append(self)
      return all.count - 1
    }
    return .object(["script": .integer(Int64(place))])
  }

  static func numbered(_ place: Int) -> Script { all.withLock { $0[place] } }
}

/// A destination that follows a script.
protocol ScriptedDestination: Destination where Settings == ScriptSettings {
  var script: Script { get }
}

struct ScriptSettings: Decodable, Sendable {
  var script: Int
}

extension ScriptedDestination {
  func receive(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Receipt {
    try await script.receive(handoff, context)
  }
}

struct Plain: ScriptedDestination {
  static let descriptor = DestinationDescriptor(
    name: "plain",
    version: "1.2",
    constraints: constraints,
    concurrency: 2
  )
  static var constraints: Constraints {
    var constraints = Constraints()
    constraints.maxCount = 2
    constraints.maxSize = 1000
    constraints.maxDuration = 60
    constraints.videoCodecs = ["h264"]
    return constraints
  }
  let script: Script

  init(settings: ScriptSettings, context: DestinationContext) {
    script = Script.numbered(settings.script)
  }

  func resume(_ handoff: ReceivedHandoff, context: ReceiveContext) async throws -> Resumption {
    guard let resume = script.resume else { return .unknown }
    return try await resume(handoff, context)
  }
}

/// The default `resume` of a destination whose work may be repeated.
struct Repeatable: ScriptedDestination {
  static let descriptor = DestinationDescriptor(name: "same", version: "1", isIdempotent: true)
  let script: Script

  init(settings: ScriptSettings, context: DestinationContext) {
    script = Script.numbered(settings.script)
  }
}

extension TemporaryFolder {
  /// What is kept of a handoff in a work folder.
  func entry(_ id: String) -> BytePath { path.appending("handoffs/\(id).json") }
}

/// Serves a destination over a socket pair for as long as the body runs, then hangs up.
func withSession<Served: Destination, Value: Sendable>(
  _ type: Served.Type,
  in work: TemporaryFolder,
  now: @escaping @Sendable () -> Timestamp = PluginEnvironment.now,
  _ body: @Sendable (TestBroker) async throws -> Value
) async throws -> Value {
  let (ours, theirs) = try UnixSocket.pair()
  let broker = TestBroker(ours)
  let context = DestinationContext(
    name: try #require(DestinationName("test")),
    work: work.path,
    environment: { _ in nil }
  )
  let session = PluginSession<Served>(context: context, now: now)
  async let served: Void = session.serve(theirs)
  async let ran: Void = broker.run()
  let value = try await body(broker)
  broker.close()
  try await served
  try await ran
  return value
}

/// One handoff with a token of its own.
func handoff(
  _ id: String = "h1",
  assets: [UInt8] = [1],
  attempt: Int = 1,
  token: String? = nil
) -> SubmitParameters {
  SubmitParameters(
    handoffID: id,
    request: HandoffRequest(
      localIdentifiers: assets.map(identifier),
      state: known(StateToken(token ?? "secret-of-\(id)")),
      title: "A title",
      attempt: attempt
    )
  )
}

func digest(_ seed: UInt8) -> ContentDigest {
  known(ContentDigest([UInt8](repeating: seed, count: 32)))
}

func identifier(_ seed: UInt8) -> LocalIdentifier { LocalIdentifier(digest(seed)) }

extension TestBroker {
  func submit(_ parameters: SubmitParameters) async throws -> SubmitAnswer {
    try await ask(.submit, parameters)
  }

  func reconcile(_ parameters: SubmitParameters...) async throws -> [HandoffKnowledge] {
    let answer: ReconcileAnswer = try await ask(
      .reconcile,
      ReconcileParameters(handoffs: parameters)
    )
    return answer.handoffs
  }
}

extension SubmitParameters {
  var reference: HandoffReference { HandoffReference(handoffID: handoffID, state: request.state) }
}

/// A door that opens once, and who has come to it.
final class Gate: Sendable {
  private let opened = AsyncStream.makeStream(of: Void.self)
  private let arrivals = AsyncStream.makeStream(of: String.self)

  /// Says that somebody is here, and waits until the door opens; cancelling ends the wait.
  func pass(_ name: String = "") async throws {
    arrivals.continuation.yield(name)
    for await _ in opened.stream {}
    try Task.checkCancellation()
  }

  func open() { opened.continuation.finish() }

  /// Who comes next.
  func arrival() async -> String? {
    for await name in arrivals.stream { return name }
    return nil
  }
}
