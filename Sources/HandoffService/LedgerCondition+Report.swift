import HandoffControl
import Ledger

extension LedgerCondition {
  /// As `handoff status` shows it.
  var report: LedgerReport {
    LedgerReport(
      status: failure != nil ? "failing" : log.isHeld ? "log_held" : "ok",
      detail: detail,
      failingSince: failingSince,
      logBytes: log.bytes,
      logLimitBytes: log.limit
    )
  }

  private var detail: String? {
    if let failure {
      return "nothing can be recorded; results are kept and tried again until it can: \(failure)"
    }
    guard log.isHeld else { return nil }
    return
      "the write-ahead log has \(log.bytes >> 20) MiB, more than \(log.limit >> 20) MiB: another "
      + "program has been reading the ledger for long, and the log shrinks once it ends"
  }
}
