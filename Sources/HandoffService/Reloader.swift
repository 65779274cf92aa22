import DropFolders
import HandoffConfig
import HandoffControl
import HandoffLog
import HandoffProtocol
import Paths

/// Applies the configuration file to the running broker: one reload at a time, and those that are asked
/// for while one waits are one.
actor Reloader {
  private let parts: OpenedParts
  private let watcher: DropFolderWatcher
  private let recovery: RecoveryStage
  private let troubles: TroubleStage
  private let asked = WakeSignal()
  private var running: Task<ReloadReport, any Error>?
  private var waiting: Task<ReloadReport, any Error>?
  /// Why the file was refused when it was read last; nil where it was not.
  private var rejection: [String]?

  init(
    parts: OpenedParts,
    watcher: DropFolderWatcher,
    recovery: RecoveryStage,
    troubles: TroubleStage
  ) {
    self.parts = parts
    self.watcher = watcher
    self.recovery = recovery
    self.troubles = troubles
  }

  /// Asks for a reload, as SIGHUP does; does not wait for it.
  nonisolated var ask: @Sendable () -> Void { { [asked] in asked.signal() } }

  /// Reloads whenever that is asked for, until the service drains.
  func run() async {
    let stop = parts.stop
    stop.wakeOnDrain(asked)
    while true {
      await asked.wait()
      if stop.isDraining || Task.isCancelled { return }
      do {
        _ = try await reload()
      } catch {
        // The service stops: the next start reads the file.
      }
    }
  }

  /// Reloads, and tells how it went.
  ///
  /// - Throws: ``ControlError`` where the service stops.
  func reload() async throws -> ReloadReport {
    // The one that waits has not read the file yet.
    if let waiting { return try await waiting.value }
    let before = running
    let task = Task {
      _ = await before?.result
      begin()
      return try await carryOut()
    }
    waiting = task
    return try await task.value
  }

  /// For `status`.
  var shown: StatusReport.Config {
    let now = parts.settings.now
    return StatusReport.Config(
      loadedAt: now.loadedAt,
      file: now.configuration.file.lossyText,
      problems: rejection
    )
  }

  private func begin() {
    running = waiting
    waiting = nil
  }

  private func carryOut() async throws -> ReloadReport {
    // What is not watched yet cannot be watched otherwise.
    guard await watcher.started(), !parts.stop.isDraining else {
      throw ControlError(.unavailable, "the broker stops; it reads the file when it starts")
    }
    let reload = Reload(parts: parts, watcher: watcher, recovery: recovery, troubles: troubles)
    do {
      let changes = try await reload.run()
      rejection = nil
      parts.logger.info(
        "The configuration was reloaded",
        [.path: parts.configuration.file.displayText, .detail: Self.summary(changes)]
      )
      return ReloadReport(applied: changes)
    } catch {
      let problems = (error as? ConfigurationError)?.problems.map(\.description) ?? ["\(error)"]
      rejection = problems
      parts.logger.error(
        "The configuration was not reloaded: what was in force stays",
        [.error: problems.joined(separator: "; ")]
      )
      return ReloadReport(refused: problems)
    }
  }

  private static func summary(_ changes: [PlanChange]) -> String {
    guard !changes.isEmpty else { return "nothing changes" }
    let rest = changes.count - logged
    let lines = changes.prefix(logged).map(\.line) + (rest > 0 ? ["and \(rest) more"] : [])
    return lines.joined(separator: "; ")
  }

  /// So many changes stand in one line of the log; all are told to whoever asked.
  private static let logged = 20
}
