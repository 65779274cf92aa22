package import HandoffProtocol

/// The ledger at a glance.
package struct LedgerReport: Codable, Sendable {
  /// `ok`; `log_held` while a reader of another program keeps its write-ahead log above the limit;
  /// `failing` while nothing can be recorded.
  package var status: String
  /// What is wrong, in one sentence.
  @OrNull package var detail: String?
  /// Since when nothing can be recorded.
  @OrNull package var failingSince: Timestamp?
  /// The size of the write-ahead log; −1 where it cannot be told.
  package var logBytes: Int64
  /// What the write-ahead log is kept below.
  package var logLimitBytes: Int64

  package init(
    status: String,
    detail: String?,
    failingSince: Timestamp?,
    logBytes: Int64,
    logLimitBytes: Int64
  ) {
    self.status = status
    self.detail = detail
    self.failingSince = failingSince
    self.logBytes = logBytes
    self.logLimitBytes = logLimitBytes
  }

  private enum CodingKeys: String, CodingKey {
    case status
    case detail
    case failingSince = "failing_since"
    case logBytes = "log_bytes"
    case logLimitBytes = "log_limit_bytes"
  }
}
