import HandoffProtocol
import LinuxSystem
import Paths

/// Keeps the handoffs of one destination: takes them, runs them, and delivers what came of them.
///
/// What it knows is in the journal first. An entry is in memory for as long as it is on the disk.
actor Receiver<Served: Destination> {
  /// A handoff that is being worked on.
  struct Work {
    let handoff: ReceivedHandoff
    /// Runs it, once its turn has come.
    var task: Task<Void, Never>?
    var isCancelled = false
    var lastProgress: ContinuousClock.Instant?
    /// What a person has to do before it goes on.
    var userNeed: String?
  }

  let context: DestinationContext
  let journal: HandoffJournal
  var broker = nobody
  let now: @Sendable () -> Timestamp
  let check = RequestCheck(constraints: Served.descriptor.constraints)

  /// Made by `discover`, or why it cannot be.
  var destination: Result<Served, ResultError> = .failure(
    ResultError(.notConfigured, "discover comes first", effect: .none, retry: .later)
  )
  var entries: [String: JournalEntry]
  var damaged: [String: String]
  var active: [String: Work] = [:]
  /// Ids in the order in which they came.
  var waiting: [String] = []
  /// Whose results have been answered over this connection.
  var delivered: Set<String> = []
  var isStopping = false
  /// What is looked at again, by its handoff.
  var verifying: [String: Task<[VerifiedAsset], any Error>] = [:]

  /// Begins with what the journal held at start.
  init(
    context: DestinationContext,
    journal: HandoffJournal,
    contents: HandoffJournal.Contents,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.context = context
    self.journal = journal
    self.now = now
    entries = contents.entries
    damaged = contents.damaged
  }

  private static var nobody: BrokerLink { BrokerLink { _, _ in throw BrokerGone() } }

  /// Opens the way to the broker, before the first message.
  func attach(_ broker: BrokerLink) {
    self.broker = broker
  }

  /// Starts what waits, as far as there is room.
  func startWaiting() {
    while !isStopping, !waiting.isEmpty, runningCount < Served.descriptor.concurrency {
      let id = waiting.removeFirst()
      active[id]?.task = Task { await self.run(id) }
    }
  }

  /// How many handoffs run.
  var runningCount: Int { active.values.count { $0.task != nil } }

  /// Ends: nothing new is started; what runs is cancelled and left for `reconcile`, unless it succeeds
  /// on its way out.
  func stop() async {
    isStopping = true
    waiting = []
    let tasks = active.values.compactMap(\.task)
    for task in tasks { task.cancel() }
    for task in verifying.values { task.cancel() }
    for task in tasks { await task.value }
    active = [:]
    // The connection holds this object, and this object the connection.
    broker = Self.nobody
  }

  /// Works on one handoff to its end.
  private func run(_ id: String) async {
    guard let handoff = active[id]?.handoff else { return }
    if let outcome = await outcome(of: handoff) {
      // In a task that is not cancelled with this one: an outcome is recorded and told in any case.
      await Task { await finish(handoff, outcome) }.value
    }
    active[id] = nil
    startWaiting()
  }

  /// What came of a handoff; nil where it was interrupted and the journal's entry stands.
  private func outcome(of handoff: ReceivedHandoff) async -> HandoffResult.Outcome? {
    do {
      let receipt = try await destination.get().receive(handoff, context: receiveContext(handoff))
      return .success(output: receipt.output)
    } catch is BrokerGone {
      return nil
    } catch {
      if isStopping { return nil }
      let isCancelled = active[handoff.id]?.isCancelled == true
      return FailureReading(isIdempotent: Served.descriptor.isIdempotent)
        .outcome(of: error, isCancelled: isCancelled)
    }
  }

  /// Records an outcome, then tells it.
  func finish(_ handoff: ReceivedHandoff, _ outcome: HandoffResult.Outcome) async {
    let outcome = FailureReading.fitting(outcome)
    entries[handoff.id]?.ending = JournalEntry.Ending(outcome, at: now())
    // A result that cannot be recorded is told all the same: the broker's ledger is the better place.
    await storeEntry(handoff.id, "recording a result")
    await deliver(handoff.id, handoff.result(outcome))
  }

  /// Sends a result; it stays in the journal until the broker has answered.
  private func deliver(_ id: String, _ result: HandoffResult) async {
    do {
      while let refusal = try await refusal(of: result) {
        guard refusal.mayPass, !isStopping else {
          // Late, foreign or already consumed: the broker has recorded that, and stays with it.
          ProcessLog.write("the broker refused the result of \(id): \(refusal.message)")
          if refusal.mayPass { return }
          break
        }
        try await Task.sleep(for: .seconds(1))
      }
    } catch is BrokerGone {
      return
    } catch {
      ProcessLog.write("the result of \(id) could not be sent: \(error)")
      return
    }
    delivered.insert(id)
    entries[id]?.isAcknowledged = true
    await storeEntry(id, "recording that a result was delivered")
    await pruneNowAndThen()
  }

  /// Sends a result once; nil where the broker has taken it.
  private func refusal(of result: HandoffResult) async throws -> RPCMessage.Failure? {
    do {
      _ = try await broker.call(.result, WireCoder.value(result))
      return nil
    } catch let refusal as RPCMessage.Failure {
      return refusal
    }
  }

  /// Writes an entry whose loss on the disk would not make anything wrong, only slower.
  private func storeEntry(_ id: String, _ doing: String) async {
    guard let entry = entries[id] else { return }
    do {
      try await journal.store(entry)
    } catch {
      ProcessLog.write("\(doing) of \(id): \(error)")
    }
  }

  func receiveContext(_ handoff: ReceivedHandoff) -> ReceiveContext {
    let entry = entries[handoff.id]
    return ReceiveContext(
      destination: context.name,
      work: context.work,
      receivedAt: entry?.receivedAt ?? now(),
      stage: entry?.stage.map { RecordedStage(name: $0.name, data: $0.data, at: $0.at) },
      channel: Channel(receiver: self, handoff: handoff)
    )
  }
}

extension RPCMessage.Failure {
  /// The broker is busy, or cannot write its ledger just now.
  fileprivate var mayPass: Bool { code == -32_001 || data?.retry == .later }
}
