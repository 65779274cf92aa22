import AssetLibrary
import DropFolders
import HandoffConfig
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import LinuxSystem

/// Deletes what has been unused for longer than the library's retention, at its moment, and removes the
/// bytes that an earlier deletion has left behind.
struct DeletionStage: Sendable {
  let ledger: Ledger
  let library: AssetLibrary
  let deletion: AssetDeletion
  let originals: OriginalStage
  let watcher: DropFolderWatcher
  let files: BlockingThread
  let settings: SettingsInForce
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Nil to keep all.
  private var retention: Duration? { settings.now.configuration.library.retention }

  /// How soon bytes that could not be removed are tried again, and a library that is away looked for.
  private static let retryInterval: Duration = .seconds(10)
  /// How many assets one transaction looks at.
  private static let batch = 100

  /// Runs until the service drains.
  func run() async {
    let signal = deletion.leftovers
    stop.wakeOnDrain(signal)
    var hasFailed = false
    while !stop.isDraining, !Task.isCancelled {
      var wait: Duration?
      do {
        wait = try await round()
        hasFailed = false
      } catch {
        // Said once: the ledger's own trouble shows everywhere.
        if !hasFailed { logger.error("Deletion waits for the ledger", [.error: "\(error)"]) }
        hasFailed = true
        wait = Self.retryInterval
      }
      await signal.wait(atMost: wait)
    }
  }

  /// Does what is due; returns when there may be more, nil where only a signal tells.
  private func round() async throws -> Duration? {
    // While it is away nothing can be removed, and nothing is deleted by itself.
    guard await library.isAvailable() else {
      return try await hasWork() ? Self.retryInterval : nil
    }
    let retention = retention
    if let retention {
      // Before that, no folder is known to be there.
      guard await watcher.started() else { return Self.retryInterval }
      let there = await watcher.folders().filter { $0.mode != .offline }.map(\.path)
      try await originals.forgetRemoved(in: Set(there), files: files)
      try await deleteUnused(for: retention)
    }
    guard try await removeBytes() else { return Self.retryInterval }
    guard let retention else { return nil }
    // What is imported, or ends, from now on is not due before a whole retention has passed.
    guard let oldest = try await ledger.longestUnused() else { return retention }
    let due = oldest.advanced(by: retention).since(now())
    return max(.milliseconds(20), min(due, retention))
  }

  private func hasWork() async throws -> Bool {
    guard retention == nil else { return true }
    return try await !ledger.unremovedAssets(limit: 1).isEmpty
  }

  private func deleteUnused(for retention: Duration) async throws {
    let reason = "unused for \(retention)"
    while !stop.isDraining {
      let (deleted, isMore) = try await ledger.deleteUnused(
        since: now().advanced(by: .zero - retention),
        limit: Self.batch,
        reason: reason
      )
      for identifier in deleted {
        logger.notice(
          "An asset was deleted",
          [.assetID: identifier.text, .reason: reason]
        )
      }
      guard isMore else { return }
    }
  }

  /// False where some could not be removed.
  private func removeBytes() async throws -> Bool {
    while !stop.isDraining {
      let identifiers = try await ledger.unremovedAssets(limit: Self.batch)
      var isComplete = true
      for identifier in identifiers where await !deletion.removeBytes(of: identifier) {
        isComplete = false
      }
      guard isComplete else { return false }
      if identifiers.count < Self.batch { return true }
    }
    return true
  }
}
