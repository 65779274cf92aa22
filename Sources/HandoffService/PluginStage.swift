import AssetLibrary
import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem
import Synchronization

/// Keeps one plugin running: starts it, starts it again when it has ended, and rests where that is
/// of no use.
///
/// What it held when it died stays as it is in the ledger until the next start asks it.
struct PluginStage: Sendable {
  let launch: ReceiverLaunch
  let library: AssetLibrary
  let parts: PluginSession.Parts
  let health: DestinationHealth
  let stop: StopState
  let logger: Logger

  /// Runs until the service drains and the plugin has ended.
  func run() async {
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
    var restarts = RestartPolicy()
    health.setContainment(launch.containment)
    while !stop.isDraining, !Task.isCancelled {
      guard await grantsAreThere() else {
        await drained.wait(atMost: Self.libraryWait)
        continue
      }
      let start = ContinuousClock.now
      let began = parts.now()
      let exit = ExitReason()
      let failure = await runOnce(exit)
      let reason = failure.remedy.map { "\(failure.message); \($0)" } ?? failure.message
      guard !stop.isDraining, !Task.isCancelled else { return }
      logger.warning(
        "A plugin ended",
        [.destination: parts.settings.name.text, .reason: reason],
        cause: PluginSession.ending(of: parts.settings.name)
      )
      if exit.isCrash { await recordCrash(since: began) }
      let lifetime = start.duration(to: .now)
      switch restarts.ended(lifetime: lifetime, jitter: Double.random(in: 0...1)) {
      case .restart(let wait) where failure.code == .versionIncompatible,
        .openCircuit(let wait) where failure.code == .versionIncompatible:
        health.set(.incompatible(failure))
        await refuse(failure, for: wait, or: drained)
      case .restart(let wait):
        health.set(.down(reason), until: parts.now().advanced(by: wait))
        await drained.wait(atMost: wait)
      case .openCircuit(let wait):
        health.set(.circuitOpen(reason), until: parts.now().advanced(by: wait))
        await drained.wait(atMost: wait)
      }
    }
  }

  /// How soon a library that is away is looked for again.
  private static let libraryWait: Duration = .seconds(3)

  /// The receiver is shown the folder of its grants, so that has to be there before it starts.
  private func grantsAreThere() async -> Bool {
    do throws(LibraryError) {
      _ = try await library.grantsFolder(destination: parts.settings.name)
      return true
    } catch {
      health.set(.down(error.description))
      return false
    }
  }

  /// Refuses what is handed off while there is no version in common, instead of letting it wait.
  ///
  /// The plugin is still started again now and then.
  private func refuse(
    _ error: ResultError,
    for time: Duration,
    or drained: WakeSignal
  ) async {
    let session = PluginSession(parts, slots: health.inFlight)
    await session.loseTrack(error)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await parts.claims.run(counting: health.inFlight) { claimed in
          await session.refuse(claimed.handoff.id, error)
          // Where that could not be recorded, it is not left claimed.
          await parts.claims.giveBack(claimed)
        }
      }
      group.addTask { await drained.wait(atMost: time) }
      await group.next()
      group.cancelAll()
    }
  }

  /// One life of the plugin; returns why it ended.
  private func runOnce(_ exit: ExitReason) async -> ResultError {
    let session = PluginSession(parts, slots: health.inFlight)
    var callbacks = session.callbacks
    callbacks.onExit = exit.note
    let process = PluginProcess(launch: launch, callbacks: callbacks)
    return await withTaskGroup(of: ResultError?.self) { group in
      group.addTask {
        do {
          try await process.run()
          return Self.ended(exit.text)
        } catch let error as ResultError {
          return error
        } catch {
          return Self.ended("\(error)")
        }
      }
      group.addTask {
        await session.serve(process, health: health)
        return nil
      }
      var reason = Self.ended("it was shut down")
      for await ended in group {
        // The process's end ends the session; the session's end (draining) shuts the process down.
        if let ended {
          reason = ended
          group.cancelAll()
        }
      }
      return reason
    }
  }

  /// What it had in hand comes back later and later, and is given up in the end.
  private func recordCrash(since start: Timestamp) async {
    do {
      let name = parts.settings.name
      for handoff in try await parts.ledger.recordReceiverCrash(name, since: start) {
        await parts.results.follow(handoff)
      }
    } catch {
      logger.error(
        "A plugin's crash was put down to nothing",
        [.destination: parts.settings.name.text, .error: "\(error)"]
      )
    }
  }

  private static func ended(_ reason: String) -> ResultError {
    ResultError(.destinationUnavailable, reason, effect: .none, retry: .later)
  }
}

/// Why a plugin ended that had been discovered, in words for the log and the status.
private final class ExitReason: Sendable {
  private let end = Mutex<PluginEnd?>(nil)

  @Sendable
  func note(_ end: PluginEnd) async {
    self.end.withLock { $0 = end }
  }

  /// It did not end as it was asked to, nor by itself in good order.
  var isCrash: Bool {
    end.withLock { end in
      guard let end else { return false }
      return end.problem != nil || end.status != .exited(0)
    }
  }

  var text: String {
    end.withLock { end in
      guard let end else { return "it ended by itself" }
      let words = end.lastLine.map { "; its last line: \($0)" } ?? ""
      return (end.problem == nil ? "it ended by itself (\(end))" : "\(end)") + words
    }
  }
}
