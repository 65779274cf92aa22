import AssetLibrary
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Reads objects again: those that a hand-off waits for at once, and all others in the background, each
/// once in the configured interval.
///
/// Everything it goes by is in the ledger, so a restart changes nothing. The readings are spread: one
/// every N-th part of the interval, the longest unread first; what is overdue is read at once, at a
/// speed that leaves the disk to others.
struct VerificationStage: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  /// Nil for never.
  let interval: Duration?
  let urgent: UrgentReadings
  let stop: StopState
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// Bytes a second in the background, unless the interval needs more.
  private static let quiet: Int64 = 32_000_000
  /// How soon it is tried again after the library was away or the ledger failed.
  private static let pause: Duration = .seconds(30)

  /// Runs until the service drains.
  func run() async {
    let drained = WakeSignal()
    stop.wakeOnDrain(drained)
    let atOnce = ReadPace()
    let background = ReadPace(bytesPerSecond: await speed(), isBackground: true)
    await withDiscardingTaskGroup { group in
      group.addTask {
        await drained.wait()
        atOnce.stop()
        background.stop()
      }
      group.addTask { await readUrgent(at: atOnce) }
      if let interval { group.addTask { await readByAge(at: background, every: interval) } }
    }
  }

  // MARK: What a hand-off waits for

  private func readUrgent(at pace: ReadPace) async {
    stop.wakeOnDrain(urgent.signal)
    while !stop.isDraining, !Task.isCancelled {
      guard let identifier = urgent.first else {
        await urgent.signal.wait()
        continue
      }
      do {
        if let known = try await ledger.objectKnowledge(of: identifier) {
          _ = try await reader.read(known, at: pace)
          _ = try await reader.readRenditions(of: identifier, at: pace)
        }
      } catch {
        // Whoever waits asks again.
        logger.warning(
          "An object could not be read before its hand-off",
          [.assetID: identifier.text, .error: "\(error)"]
        )
      }
      urgent.done(identifier)
    }
  }

  // MARK: By age

  private func readByAge(at pace: ReadPace, every interval: Duration) async {
    let signal = WakeSignal()
    stop.wakeOnDrain(signal)
    var hasFailed = false
    while !stop.isDraining, !Task.isCancelled {
      do {
        let known = try await ledger.longestUnread()
        let wait = try await untilDue(known, interval)
        if wait > .zero {
          await signal.wait(atMost: wait)
        } else if let known {
          _ = try await reader.read(known, at: pace)
          _ = try await reader.readRenditions(of: known.localIdentifier, at: pace)
        }
        hasFailed = false
      } catch {
        // Said once: the library's and the ledger's own troubles show elsewhere too.
        if !hasFailed { logger.warning("Verification waits", [.error: "\(error)"]) }
        hasFailed = true
        await signal.wait(atMost: Self.pause)
      }
    }
  }

  /// What is overdue is found by an index; only the spread of the rest needs a look at all assets.
  private func untilDue(
    _ known: ObjectKnowledge?,
    _ interval: Duration
  ) async throws -> Duration {
    guard let known else { return interval }
    let oldest = known.verifiedAt ?? known.importedAt
    if oldest.advanced(by: interval) <= now() { return .zero }
    let outlook = try await ledger.verificationOutlook()
    let due = Self.due(
      oldest: oldest,
      newest: outlook.newest,
      count: outlook.totals.count,
      interval: interval
    )
    return due.since(now())
  }

  /// The moment of the next reading: an N-th of the interval after the last, and never later than the
  /// interval after the longest unread was read.
  static func due(
    oldest: Timestamp,
    newest: Timestamp?,
    count: Int,
    interval: Duration
  ) -> Timestamp {
    let spread = (newest ?? oldest).advanced(by: interval / max(1, count))
    return min(spread, oldest.advanced(by: interval))
  }

  /// Twice what the interval needs, and at least the quiet speed.
  private func speed() async -> Int64 {
    guard let interval else { return Self.quiet }
    do {
      let bytes = try await ledger.verificationOutlook().totals.bytes
      return max(Self.quiet, 2 * bytes / max(1, interval.components.seconds))
    } catch {
      logger.warning("The library's size is not known yet", [.error: "\(error)"])
      return Self.quiet
    }
  }

  private var reader: ObjectReader {
    ObjectReader(library: library, ledger: ledger, logger: logger)
  }
}
