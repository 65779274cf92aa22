import Glibc
package import HandoffProtocol
package import LinuxSystem
package import Paths

/// A plugin that runs as a real process, with a broker's end on its socket.
package struct PluginUnderTest: Sendable {
  /// The program's, among the products.
  package let name: String
  package let settings: JSONValue
  package let work: BytePath
  /// Each as `NAME=VALUE`.
  package var environment: [String]

  package init(
    name: String,
    settings: JSONValue,
    work: BytePath,
    environment: [String] = []
  ) {
    self.name = name
    self.settings = settings
    self.work = work
    self.environment = environment
  }

  /// Starts it with a `HANDOFF_FAULT`, introduces the broker, runs the body, hangs up and waits for
  /// its end.
  package func run<Value: Sendable>(
    fault: String? = nil,
    _ body: @Sendable (TestBroker, SpawnedProcess) async throws -> Value
  ) async throws -> Value {
    let (ours, theirs) = try UnixSocket.pair()
    var command = try ProcessCommand(productsFolder().appending(BytePath(name)))
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
    do {
      try await served
    } catch {
      // A plugin that was killed may have been in the middle of a line.
    }
    return try outcome.get()
  }

  /// Hands off once and returns how it ended.
  package func deliver(
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
  /// It submits, and after each end of the process starts it again and asks what became of it.
  ///
  /// - Parameters:
  ///   - submitted: the handoff.
  ///   - assets: what is granted for it.
  ///   - faults: `HANDOFF_FAULT` of the first processes; those after them run unharmed.
  ///   - onStart: told of each process.
  /// - Returns: how it ended, and how many processes it took.
  /// - Throws: where a process ends that nobody has killed.
  package func deliverOverCrashes(
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
      guard processes < 20 else { throw TestSupportError("the plugin dies again and again") }
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
      guard let knowledge = answer.handoffs.first else {
        throw TestSupportError("reconcile was answered with nothing")
      }
      switch knowledge.standing {
      case .finished:
        guard let result = knowledge.result else {
          throw TestSupportError("finished without a result")
        }
        return result.outcome
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

/// One handoff with a token of its own.
package func submission(
  _ id: String,
  _ identifiers: [LocalIdentifier],
  title: String? = nil,
  attempt: Int = 1,
  metadata: JSONValue? = nil
) -> SubmitParameters {
  SubmitParameters(
    handoffID: id,
    request: HandoffRequest(
      localIdentifiers: identifiers,
      state: known(StateToken("secret-of-\(id)")),
      title: title,
      attempt: attempt,
      metadata: metadata
    )
  )
}
