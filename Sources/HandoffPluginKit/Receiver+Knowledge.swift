import HandoffProtocol

extension Receiver {
  /// Tells what is known of one handoff, and goes on with it if it was interrupted.
  func probe(_ reference: HandoffReference) async throws -> HandoffKnowledge {
    try await knowledge(of: reference, isCancelled: false)
  }

  private func knowledge(
    of reference: HandoffReference,
    isCancelled: Bool
  ) async throws -> HandoffKnowledge {
    let id = reference.handoffID
    if let known = try known(id, reference.state) { return known }
    guard let handoff = try entries[id]?.handoff(reference.state) else {
      return HandoffKnowledge(handoffID: id, standing: .unknown)
    }
    let destination = try destination.get()
    active[id] = Work(handoff: handoff)
    switch await resumption(of: handoff, destination) {
    case .redo where isCancelled:
      let reading = FailureReading(isIdempotent: Served.descriptor.isIdempotent)
      return try await conclude(
        handoff,
        reading.outcome(of: CancellationError(), isCancelled: true)
      )
    case .redo:
      enqueue(handoff)
      return HandoffKnowledge(handoffID: id, standing: .working)
    case .notReceived:
      active[id] = nil
      try await journal.remove([id])
      entries[id] = nil
      return HandoffKnowledge(handoffID: id, standing: .notReceived)
    case .finished(let receipt):
      return try await conclude(handoff, .success(output: receipt.output))
    case .failed(let error):
      return try await conclude(handoff, .failure(error))
    case .unknown:
      active[id] = nil
      return HandoffKnowledge(handoffID: id, standing: .unknown)
    }
  }

  /// Gives a handoff up: one that waits ends at once, one that runs is cancelled, one that was interrupted
  /// is not begun again.
  func cancel(_ reference: HandoffReference) async throws -> HandoffKnowledge {
    let id = reference.handoffID
    if let work = active[id], work.handoff.state.matches(reference.state) {
      active[id]?.isCancelled = true
      if let place = waiting.firstIndex(of: id) {
        waiting.remove(at: place)
        active[id]?.task = Task {
          await self.finish(work.handoff, .cancelled(nil))
          self.active[id] = nil
        }
      } else {
        work.task?.cancel()
      }
    }
    return try await knowledge(of: reference, isCancelled: true)
  }

  /// Tells what is known of everything that the broker holds open, and goes on with what was
  /// interrupted.
  func reconcile(_ parameters: ReconcileParameters) async throws -> ReconcileAnswer {
    var answers: [HandoffKnowledge] = []
    for submitted in parameters.handoffs {
      let state = submitted.request.state
      answers.append(
        try await probe(HandoffReference(handoffID: submitted.handoffID, state: state))
      )
    }
    return ReconcileAnswer(handoffs: answers)
  }

  /// Records an ending that the answer itself tells.
  private func conclude(
    _ handoff: ReceivedHandoff,
    _ outcome: HandoffResult.Outcome
  ) async throws -> HandoffKnowledge {
    defer { active[handoff.id] = nil }
    let outcome = FailureReading.fitting(outcome)
    entries[handoff.id]?.ending = JournalEntry.Ending(outcome, at: now())
    if let entry = entries[handoff.id] { try await journal.store(entry) }
    return HandoffKnowledge(
      handoffID: handoff.id,
      standing: .finished,
      result: handoff.result(outcome)
    )
  }

  /// What can be told without the author; nil for a handoff whose work was interrupted.
  private func known(_ id: String, _ state: StateToken) throws -> HandoffKnowledge? {
    if damaged[id] != nil { return HandoffKnowledge(handoffID: id, standing: .unknown) }
    guard let entry = entries[id] else {
      // Taken, but not yet in the journal: its answer is still owed.
      let standing = active[id] == nil ? HandoffKnowledge.Standing.notReceived : .working
      return HandoffKnowledge(handoffID: id, standing: standing)
    }
    guard try entry.key == ReceivedHandoff.idempotencyKey(of: state) else {
      return HandoffKnowledge(handoffID: id, standing: .unknown)
    }
    if let ending = entry.ending {
      return HandoffKnowledge(
        handoffID: id,
        standing: .finished,
        result: HandoffResult(state: state, outcome: ending.outcome, version: entry.version)
      )
    }
    guard let work = active[id] else { return nil }
    return HandoffKnowledge(
      handoffID: id,
      standing: work.userNeed == nil ? .working : .needsUser,
      message: work.userNeed
    )
  }
}
