import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger

/// Writes what cannot be had again until the ledger takes it: a disk that is full for a while loses none.
struct LastingWrite: Sendable {
  let stop: StopState
  let logger: Logger

  private static let longestRest = 15

  /// Does it again, ever more rarely, until it is done, is refused, or the service stops.
  ///
  /// - Parameters:
  ///   - message: said once, when it first fails.
  ///   - fields: what it is about.
  ///   - write: changes nothing where it throws.
  /// - Throws: ``LedgerError`` and `ResultError`, which another try would meet again; anything else once
  ///   the service stops.
  func run(
    _ message: StaticString,
    _ fields: [LogKey: String],
    _ write: @Sendable () async throws -> Void
  ) async throws {
    let rest = WakeSignal()
    var failures = 0
    defer { if failures > 0 { stop.forget(rest) } }
    while true {
      do {
        try await write()
        if failures > 0 {
          logger.notice(
            "What the ledger did not take is written now",
            fields.merging([.detail: "\(message)"]) { first, _ in first }
          )
        }
        return
      } catch {
        if error is LedgerError || error is ResultError { throw error }
        failures += 1
        if failures == 1 {
          stop.wakeOnDrain(rest)
          logger.error(message, fields.merging([.error: "\(error)"]) { first, _ in first })
        }
        if stop.isDraining || Task.isCancelled { throw error }
      }
      await rest.wait(atMost: .seconds(min(failures, Self.longestRest)))
    }
  }
}
