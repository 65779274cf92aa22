import HandoffProtocol

extension Receiver {
  /// How many handoffs are taken at once, running or waiting.
  private static var mostActive: Int { 1024 }

  /// Takes a handoff: it is in the journal before the answer says so.
  ///
  /// One that is known already is not done twice.
  func submit(_ parameters: JSONValue?) async throws -> SubmitAnswer {
    do {
      let handoff = try received(parameters)
      let destination = try destination.get()
      while let work = active[handoff.id] {
        try checkKey(of: handoff)
        guard let task = work.task, entries[handoff.id]?.isNewAttempt(handoff) == true,
          entries[handoff.id]?.ending != nil
        else { return SubmitAnswer(accepted: true) }
        // The earlier attempt's result is on its way out: this attempt comes after it.
        await task.value
      }
      guard !isStopping, active.count < Self.mostActive else {
        throw ResultError(
          .destinationUnavailable,
          isStopping ? "the receiver is ending" : "\(active.count) handoffs are open here",
          effect: .none,
          retry: .later
        )
      }
      try await take(handoff, destination)
      return SubmitAnswer(accepted: true)
    } catch {
      return SubmitAnswer(accepted: false, error: refusal(error))
    }
  }

  /// Begins a handoff, goes on with one that was interrupted, or tells again how one has ended.
  private func take(_ handoff: ReceivedHandoff, _ destination: Served) async throws {
    try checkKey(of: handoff)
    if let reason = damaged[handoff.id], handoff.attempt == 1 {
      throw ResultError(
        .receiverFailed,
        "the journal of this handoff is damaged: \(reason)",
        effect: .unknown
      )
    }
    active[handoff.id] = Work(handoff: handoff)
    guard let known = entries[handoff.id], !known.isNewAttempt(handoff) else {
      return try await begin(handoff)
    }
    if let ending = known.ending {
      settle(handoff, ending.outcome)
      return
    }
    switch await resumption(of: handoff, destination) {
    case .notReceived, .redo: enqueue(handoff)
    case .finished(let receipt): settle(handoff, .success(output: receipt.output))
    case .failed(let error): settle(handoff, .failure(error))
    case .unknown: settle(handoff, .failure(Self.lostTrack))
    }
  }

  /// Records that a handoff has come; an earlier attempt's recorded step stays.
  private func begin(_ handoff: ReceivedHandoff) async throws {
    let entry = JournalEntry(handoff, after: entries[handoff.id], now: now())
    do {
      try await journal.store(entry)
    } catch {
      active[handoff.id] = nil
      throw error
    }
    entries[handoff.id] = entry
    damaged[handoff.id] = nil
    enqueue(handoff)
  }

  /// Puts a handoff that is marked as active into the line.
  func enqueue(_ handoff: ReceivedHandoff) {
    waiting.append(handoff.id)
    startWaiting()
  }

  /// Tells an outcome in a task of its own, because the caller owes its answer first.
  ///
  /// Over one connection a result is told once.
  private func settle(_ handoff: ReceivedHandoff, _ outcome: HandoffResult.Outcome) {
    guard !delivered.contains(handoff.id) else { return forget(handoff.id) }
    active[handoff.id]?.task = Task {
      await self.finish(handoff, outcome)
      self.forget(handoff.id)
    }
  }

  private func forget(_ id: String) {
    active[id] = nil
    startWaiting()
  }

  /// Asks the author what became of an interrupted handoff.
  func resumption(of handoff: ReceivedHandoff, _ destination: Served) async -> Resumption {
    do {
      return try await destination.resume(handoff, context: receiveContext(handoff))
    } catch {
      ProcessLog.write("asking what became of \(handoff.id): \(error)")
      return .unknown
    }
  }

  /// The same id with another token is another request.
  private func checkKey(of handoff: ReceivedHandoff) throws(ResultError) {
    let key = entries[handoff.id]?.key ?? active[handoff.id]?.handoff.idempotencyKey
    guard let key, key != handoff.idempotencyKey else { return }
    throw ResultError(
      .unknownState,
      "handoff \(handoff.id) is known here with another state token",
      effect: .unknown
    )
  }

  private static var lostTrack: ResultError {
    ResultError(
      .interrupted,
      "the receiver ended while it worked on this handoff, and cannot tell how far it came",
      effect: .unknown
    )
  }
}
