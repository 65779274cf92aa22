import DropFolders
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// One reload: everything is read, checked and made ready before anything changes.
struct Reload: Sendable {
  let parts: OpenedParts
  let watcher: DropFolderWatcher
  let recovery: RecoveryStage
  let troubles: TroubleStage

  /// What a destination that is removed or changed has for ending what runs, before it is ended.
  static let drainLimit: Duration = StopSequence.drainLimit

  /// Reads the file and applies it.
  ///
  /// - Returns: what has changed.
  /// - Throws: ``ConfigurationError``, or what the ledger or the system says; nothing was changed then.
  func run() async throws -> [PlanChange] {
    let old = parts.settings.now
    let (configuration, secrets) = try await read(old)
    let difference = ReloadDifference(old, configuration, secrets)
    let open = try await ConfigurationPlan.openHandoffs(in: parts.ledger)
    let changes = await Self.thread.run {
      ConfigurationPlan.changes(from: old.configuration, to: configuration, open: open)
    }
    var starts: [DestinationName: @Sendable () -> Void] = [:]
    for destination in difference.started {
      starts[destination.name] = try await parts.prepare(destination, troubles)
    }
    let values = SettingsInForce.Values(
      configuration,
      secrets: secrets,
      firstSeen: try await parts.ledger.firstSeen(folders: configuration.dropFolders),
      loadedAt: SystemClock.now()
    )
    try await parts.ledger.revise(for: difference.meanwhile)
    try await parts.ledger.setCrashLimit(configuration.broker.crashLimit)
    // From here on nothing can be refused any more.
    parts.settings.replace(with: values)
    parts.suspects.setLimit(configuration.broker.crashLimit)
    await remember(values)
    await apply(difference, starts)
    return changes + difference.rotated
  }

  private func read(
    _ old: SettingsInForce.Values
  ) async throws(ConfigurationError) -> (Configuration, Secrets) {
    let parts = parts
    return try await Self.thread.run { () throws(ConfigurationError) in
      let file = old.configuration.file
      let configuration = try ConfigurationSource.load(at: file)
      let secrets = Secrets(of: configuration, environment: parts.environment)
      let checks = ReloadChecks(
        old: old.configuration,
        new: configuration,
        programs: parts.programs,
        environment: parts.environment
      )
      let problems = checks.problems + secrets.problems
      if !problems.isEmpty { throw ConfigurationError(problems: problems) }
      return (configuration, secrets)
    }
  }

  private static let thread = BlockingThread("reload")

  // MARK: Applying

  private func remember(_ values: SettingsInForce.Values) async {
    let state = parts.state
    do {
      try await Self.thread.run {
        try LoadedConfiguration(of: values.configuration, at: values.loadedAt).write(into: state)
      }
    } catch {
      parts.logger.warning(
        "It could not be written down what was loaded: `handoff plan` compares with what was before",
        [.error: "\(error)"]
      )
    }
  }

  /// Added destinations are there before anything is routed to them, and what is routed by the old
  /// folders is known before the destinations that are gone are looked through.
  private func apply(
    _ difference: ReloadDifference,
    _ starts: [DestinationName: @Sendable () -> Void]
  ) async {
    for destination in difference.added { starts[destination.name]?() }
    for callback in difference.addedCallbacks { parts.start(callback) }
    let configuration = parts.configuration
    await watcher.change(to: configuration.dropFolders, firstSeen: parts.settings.now.firstSeen)
    await withDiscardingTaskGroup { group in
      group.addTask { await change(difference, starts) }
      for callback in difference.removedCallbacks {
        group.addTask {
          await parts.stages.end(callback.stageName, within: Self.drainLimit)
          parts.notices.remove(callback)
        }
      }
      for callback in difference.changedCallbacks {
        group.addTask {
          await parts.stages.end(callback.id.stageName, within: Self.drainLimit)
          parts.start(callback)
        }
      }
      if difference.verifiesOtherwise {
        group.addTask {
          await parts.stages.end(OpenedParts.verificationName, within: Self.drainLimit)
          parts.startVerification()
        }
      }
    }
    // The retention and the history's age may be others.
    parts.leftovers.signal()
    parts.pruning.signal()
    do {
      try await recovery.originals.forgetChangedFolders()
    } catch {
      parts.logger.warning("Originals still wait as before the reload", [.error: "\(error)"])
    }
  }

  /// Ends what is removed or changed, has the ledger go by what is in force now, and starts what is changed.
  ///
  /// Not before all of it has ended: what an approval, a quota, `after` or a stop has held back would be let
  /// go to a receiver that is about to be another one, or none.
  private func change(
    _ difference: ReloadDifference,
    _ starts: [DestinationName: @Sendable () -> Void]
  ) async {
    if difference.ended.isEmpty { return }
    await withDiscardingTaskGroup { group in
      for name in difference.ended { group.addTask { await end(name) } }
    }
    for name in difference.removed { remove(name) }
    let destinations = parts.configuration.destinations
    do {
      try await LastingWrite(stop: parts.stop, logger: parts.logger)
        .run("A reload waits for the ledger", [:]) {
          try await parts.ledger.revise(for: destinations)
        }
    } catch {
      return parts.logger.error(
        "Destinations that were changed are not worked for until the next start",
        [.error: "\(error)"]
      )
    }
    for destination in difference.changed { starts[destination.name]?() }
  }

  private func remove(_ name: DestinationName) {
    parts.dispatch.remove(name)
    parts.wishes.remove(name)
    parts.roster.remove(name)
    // Nobody is told any more that it is down.
    troubles.tell(name, .up)
  }

  /// Ends the stage of a destination, and leaves its handoffs as a start of the broker would find them.
  private func end(_ name: DestinationName) async {
    await parts.stages.end(name.stageName, within: Self.drainLimit)
    do {
      try await recovery.run(name)
    } catch {
      parts.logger.error(
        "What a destination held stays as it is until the next start",
        [.destination: name.text, .error: "\(error)"]
      )
    }
  }
}
