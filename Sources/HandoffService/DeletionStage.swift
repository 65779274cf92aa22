import AssetLibrary
import HandoffLog
import HandoffProtocol
import Ledger

/// Deletes what has been unused for longer than the library's retention, at its moment, and removes the
/// bytes that an earlier deletion has left behind.
struct DeletionStage: Sendable {
  let ledger: Ledger
  let library: AssetLibrary
  let deletion: AssetDeletion
  /// Nil to keep all.
  let retention: Duration?
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// How soon bytes that could not be removed are tried again, and how late a retention may be.
  private static let retryInterval: Duration = .seconds(60)
  /// How many assets one transaction looks at.
  private static let batch = 100

  /// Runs until the service drains.
  func run() async {
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
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
      await drained.wait(atMost: wait)
    }
  }

  /// Does what is due; returns when there may be more.
  private func round() async throws -> Duration? {
    // Away, it can remove nothing, and nothing may count as too old for a library that nobody sees.
    guard await library.isAvailable() else { return Self.retryInterval }
    if let retention { try await deleteUnused(for: retention) }
    guard try await removeBytes() else { return Self.retryInterval }
    guard let retention else { return Self.retryInterval }
    // What is imported, or ends, from now on is not due before a whole retention has passed.
    guard let oldest = try await ledger.longestUnused() else { return retention }
    let due = oldest.advanced(by: retention).since(now())
    return max(.milliseconds(20), min(due, retention))
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
