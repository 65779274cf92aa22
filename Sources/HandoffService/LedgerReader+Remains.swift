import HandoffLog
import Ledger

extension LedgerReader {
  /// What of it holds in the ledger that takes its place, as far as it can be read.
  func remains(_ logger: Logger) async -> LedgerRemains {
    do {
      return try await remains()
    } catch {
      logger.warning(
        "Pauses, allowances and quotas of the former ledger cannot be read",
        [.error: "\(error)"]
      )
      return LedgerRemains()
    }
  }
}
