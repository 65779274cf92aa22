import AssetLibrary
import Destinations
import DropFolders
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
package import LinuxSystem
import MediaProbe
import Paths

/// The broker: everything composed, in the order in which it starts.
package struct Broker: Sendable {
  let state: StateFolder
  /// Held as long as the broker lives.
  let lock: BrokerLock
  let ledger: Ledger
  let library: AssetLibrary
  let probe: MediaProbe
  let watcher: DropFolderWatcher
  let stages: Stages
  let reloader: Reloader
  let questions: ControlQuestions
  let stop: StopState
  let logger: Logger

  /// Runs until a stop signal, and reloads the configuration at each SIGHUP; then drains: no new work starts, what runs may end, and what does not
  /// end in time is ended and recovered at the next start.
  ///
  /// - Parameters:
  ///   - signals: SIGTERM and SIGINT stop, SIGHUP reloads.
  ///   - ready: called once everything is watched and listed.
  /// - Throws: what the service cannot go on without.
  package func run(
    stopping signals: SignalSequence,
    ready: @escaping @Sendable () -> Void
  ) async throws {
    try await stages.recovery.run()
    let sequence = StopSequence(
      signals: signals,
      stop: stop,
      logger: logger,
      reload: reloader.ask
    )
    let outcome = await outcome(sequence, ready: ready)
    await probe.shutdown()
    await marking.end()
    do {
      try await ledger.close()
    } catch {
      // Where the service has failed, that is what to tell.
      try outcome.get()
      throw error
    }
    try outcome.get()
    logger.info("Stopped")
  }

  private var marking: LedgerMarking {
    LedgerMarking(library: library, ledger: ledger, stop: stop, logger: logger)
  }

  private enum Part: Sendable {
    case service
    case stopped
  }

  private func outcome(
    _ sequence: StopSequence,
    ready: @escaping @Sendable () -> Void
  ) async -> Result<Void, any Error> {
    do {
      try await withThrowingTaskGroup(of: Part.self) { group in
        group.addTask {
          try await serve(ready: ready)
          return .service
        }
        group.addTask {
          await sequence.run()
          return .stopped
        }
        defer { group.cancelAll() }
        // Either everything has ended in time, or what still runs is cancelled.
        _ = try await group.next()
      }
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func serve(ready: @escaping @Sendable () -> Void) async throws {
    let server = try ControlServer(state.socket, logger: logger, answer: questions.answer)
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Receipts outlive everything that has them written.
      group.addTask { await stages.receipts.run() }
      defer { stages.receipts.finish() }
      try await expiring { try await serve(server, ready: ready) }
    }
  }

  /// Handoffs expire for as long as anything waits for their end.
  private func expiring(
    _ work: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await stages.expiry.run() }
      defer { stages.expiry.finish() }
      try await work()
    }
  }

  private func serve(
    _ server: ControlServer,
    ready: @escaping @Sendable () -> Void
  ) async throws {
    // Before anything is sent: receivers are told where they are answered.
    let listener = await stages.api.bind()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await stages.api.run(listener) }
      group.addTask { try await stop.untilDraining { try await watcher.run() } }
      group.addTask { try await stop.untilDraining { try await server.run() } }
      group.addTask { try await stop.untilDraining { try await ledger.untilDamaged() } }
      group.addTask { try await marking.run() }
      group.addTask { await stages.deletion.run() }
      group.addTask { await stages.notices.run() }
      group.addTask { await stages.troubles.run { await watcher.report(for: $0) } }
      group.addTask { await stages.check.run() }
      group.addTask { await stages.running.run() }
      group.addTask { await reloader.run() }
      group.addTask { await stages.pruning.run() }
      group.addTask {
        guard await watcher.started() else { return }
        logger.info("Ready")
        ready()
      }
      // The first part that fails ends the others; waiting for all would wait for ever.
      while try await group.next() != nil {}
    }
  }
}
