import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

/// A plugin that runs as a real process, with a broker's end on its socket.
struct PluginProcess: Sendable {
  let name: String
  let settings: JSONValue
  let work: BytePath
  var environment: [String] = []

  /// Starts it with a `HANDOFF_FAULT`, introduces the broker, runs the body, hangs up and waits for
  /// its end.
  func run<Value: Sendable>(
    fault: String? = nil,
    _ body: @Sendable (TestBroker, SpawnedProcess) async throws -> Value
  ) async throws -> Value {
    let (ours, theirs) = try UnixSocket.pair()
    var command = try ProcessCommand(productsFolder().appending(name))
    let variables =
      ["HANDOFF_FD=3", "HANDOFF_DESTINATION=test", "PATH=/usr/bin:/bin"] + environment
      + (fault.map { ["HANDOFF_FAULT=\($0)"] } ?? [])
    let workVariable = BytePath(Array("HANDOFF_WORK=".utf8) + work.bytes)
    command.environment = variables.map { BytePath($0) } + [workVariable]
    let log = try FileDescriptor.open(
      work.appending("log"),
      O_WRONLY | O_CREAT | O_APPEND
    )
    command.descriptors = [1: log, 2: log, 3: theirs]
    let process = try await SpawnedProcess.spawn(command)
    try theirs.close()
    let broker = TestBroker(ours)
    async let served: Void = broker.run()
    let outcome: Result<Value, any Error>
    do {
      try await broker.discover(settings)
      outcome = .success(try await body(broker, process))
    } catch {
      outcome = .failure(error)
    }
    broker.close()
    _ = await process.exit()
    // A plugin that was killed may have been in the middle of a line.
    _ = try? await served
    return try outcome.get()
  }

  /// Hands off once and returns how it ended.
  func deliver(
    _ submitted: SubmitParameters,
    _ assets: [LocalIdentifier: ResolvedAsset]
  ) async throws -> HandoffResult.Outcome {
    try await run { broker, _ in
      for (identifier, asset) in assets { broker.grant(identifier, asset) }
      let answer: SubmitAnswer = try await broker.ask(.submit, submitted)
      guard answer.accepted else {
        return .failure(answer.error ?? ResultError(.receiverFailed, "", effect: .unknown))
      }
      return try await broker.nextResult().outcome
    }
  }

  /// What a broker does that must see a handoff to its end.
  ///
  /// It submits, and after each end of the process starts it again and asks what became of it. The faults are for the first processes.
  func deliverOverCrashes(
    _ submitted: SubmitParameters,
    _ assets: [LocalIdentifier: ResolvedAsset],
    faults: [String],
    onStart: @escaping @Sendable (SpawnedProcess) -> Void = { _ in }
  ) async throws -> (outcome: HandoffResult.Outcome, processes: Int) {
    var processes = 0
    while true {
      let fault = processes < faults.count ? faults[processes] : nil
      processes += 1
      let isFirst = processes == 1
      do {
        let outcome = try await run(fault: fault) { broker, process -> HandoffResult.Outcome? in
          onStart(process)
          for (identifier, asset) in assets { broker.grant(identifier, asset) }
          return try await Self.outcome(submitted, broker, isFirst)
        }
        if let outcome { return (outcome, processes) }
      } catch  where processes <= faults.count || error is BrokerGaveUp {
        // It died, as it was told to.
      }
      try #require(processes < 20)
    }
  }

  private static func outcome(
    _ submitted: SubmitParameters,
    _ broker: TestBroker,
    _ isFirst: Bool
  ) async throws -> HandoffResult.Outcome? {
    var mustSubmit = isFirst
    if !isFirst {
      let answer: ReconcileAnswer = try await broker.ask(
        .reconcile,
        ReconcileParameters(handoffs: [submitted])
      )
      let knowledge = try #require(answer.handoffs.first)
      switch knowledge.standing {
      case .finished: return try #require(knowledge.result).outcome
      case .unknown:
        return .failure(ResultError(.interrupted, "unknown", effect: .unknown))
      case .notReceived: mustSubmit = true
      case .working, .needsUser: break
      }
    }
    if mustSubmit {
      let answer: SubmitAnswer = try await broker.ask(.submit, submitted)
      if !answer.accepted { return answer.error.map { .failure($0) } }
    }
    return try await broker.nextResult().outcome
  }
}

/// The folders of a plugin, removed with everything in them when the test lets go of them.
final class Scratch: Sendable {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try Directory.create(path.appending("work"))
    try Directory.create(path.appending("out"))
    try Directory.create(path.appending("grants"))
  }

  var path: BytePath { folder.path }
  var work: BytePath { path.appending("work") }
  var out: BytePath { path.appending("out") }

  /// Everything below the output folder, relative to it.
  func files() throws -> Set<BytePath> {
    var found: Set<BytePath> = []
    func walk(_ folder: BytePath) throws {
      for entry in try Directory.entries(of: folder) {
        let inner = folder.appending(entry.name)
        if entry.kind == .directory {
          try walk(inner)
        } else {
          found.insert(known(inner.relative(to: out)))
        }
      }
    }
    try walk(out)
    return found
  }
}

/// Runs a program to its end.
func runProgram(
  _ executable: BytePath,
  _ arguments: [BytePath],
  in folder: BytePath? = nil,
  output: BytePath? = nil
) async throws -> LinuxSystem.ExitStatus {
  var command = ProcessCommand(executable, arguments: arguments, environment: ["LC_ALL=C"])
  command.workingDirectory = folder
  if let output {
    let file = try FileDescriptor.open(output, O_WRONLY | O_CREAT | O_TRUNC)
    command.descriptors = [1: file, 2: file]
  }
  return await (try SpawnedProcess.spawn(command)).exit()
}

/// One handoff with a token of its own.
func handoff(
  _ id: String,
  _ identifiers: [LocalIdentifier],
  title: String? = nil,
  attempt: Int = 1
) -> SubmitParameters {
  SubmitParameters(
    handoffID: id,
    request: HandoffRequest(
      localIdentifiers: identifiers,
      state: known(StateToken("secret-of-\(id)")),
      title: title,
      attempt: attempt
    )
  )
}
