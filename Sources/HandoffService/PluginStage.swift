import AssetLibrary
import Destinations
import HandoffCore
import HandoffLog
import HandoffProtocol

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
      let reason = await runOnce()
      guard !stop.isDraining, !Task.isCancelled else { return }
      logger.warning(
        "A plugin ended",
        [.destination: parts.settings.name.text, .reason: reason]
      )
      let lifetime = start.duration(to: .now)
      switch restarts.ended(lifetime: lifetime, jitter: Double.random(in: 0...1)) {
      case .restart(let wait):
        health.set(.down(reason))
        await drained.wait(atMost: wait)
      case .openCircuit(let wait):
        health.set(.circuitOpen(reason))
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

  /// One life of the plugin; returns why it ended.
  private func runOnce() async -> String {
    let session = PluginSession(parts)
    let process = PluginProcess(launch: launch, callbacks: session.callbacks)
    return await withTaskGroup(of: String?.self) { group in
      group.addTask {
        do {
          try await process.run()
          return "it ended by itself"
        } catch let error as ResultError {
          return error.remedy.map { "\(error.message); \($0)" } ?? error.message
        } catch {
          return "\(error)"
        }
      }
      group.addTask {
        await session.serve(process, health: health)
        return nil
      }
      var reason = "it was shut down"
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
}
