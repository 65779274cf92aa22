import AssetLibrary
import HandoffLog
import Ledger
import Paths

/// Keeps a mark in the library of how far the ledger has come, so that a state folder that was put back from
/// an old copy is found out: its own head file is as old as its ledger.
///
/// It does not find one out that is put back together with the library, nor what the ledger has taken in since
/// the last mark.
struct LedgerMarking: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let stop: StopState
  let logger: Logger

  private static let interval: Duration = .seconds(5)

  /// Refuses a ledger that has not come as far as the library has seen it.
  ///
  /// - Throws: ``ServiceError`` with `ledgerOld`; what the ledger or the library says.
  func check() async throws {
    guard let mark = try await library.ledgerMark() else { return }
    let position = LedgerPosition(event: mark.event, code: mark.code)
    guard try await !ledger.hasPassed(position) else { return }
    let last = try await ledger.position()
    throw ServiceError(
      .ledgerOld,
      "the ledger is an old copy or another one: the library \(library.path.displayText) has seen event "
        + "\(mark.event) of its ledger, and this one ends at \(last.event) or has another event there. "
        + "What came after would be handed off again; put a backup in its place with `handoff restore`, or "
        + "make the ledger again with `handoff rebuild --force`"
    )
  }

  /// Writes the mark where the ledger has come further.
  func write() async throws {
    let position = try await ledger.position()
    let mark = LedgerMark(event: position.event, code: position.code)
    if try await library.ledgerMark() != mark { try await library.setLedgerMark(mark) }
  }

  /// Keeps the mark until the service drains; a library that was away is looked at first.
  func run() async throws {
    let signal = WakeSignal()
    stop.wakeOnDrain(signal)
    var isChecked = false
    var hasFailed = false
    while !stop.isDraining, !Task.isCancelled {
      if await library.isAvailable() {
        do {
          if !isChecked { try await check() }
          isChecked = true
          try await write()
          hasFailed = false
        } catch let error as ServiceError {
          throw error
        } catch {
          // Said once: the library's and the ledger's own troubles show elsewhere too.
          if !hasFailed { logger.warning("The ledger's mark waits", [.error: "\(error)"]) }
          hasFailed = true
        }
      } else {
        isChecked = false
      }
      await signal.wait(atMost: Self.interval)
    }
    stop.forget(signal)
  }

  /// The last mark of a broker that stops in good order.
  func end() async {
    guard await library.isAvailable() else { return }
    do {
      try await write()
    } catch {
      logger.warning("The ledger's mark was not written", [.error: "\(error)"])
    }
  }
}
