import DropFolders
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

extension WhyReport {
  /// What detection knows of one file.
  init(_ report: CandidateReport) {
    self.init(
      report.path,
      state: report.state.rawValue,
      reason: report.reason,
      until: report.until,
      evidence: report.evidence,
      localIdentifier: report.localIdentifier
    )
  }
}

extension StatusReport.Folder {
  /// One drop folder's line.
  init(_ report: FolderReport) {
    self.init(
      path: report.path.lossyText,
      mode: report.mode.rawValue,
      watches: report.watches,
      candidates: report.candidates,
      degraded: report.degraded,
      rescans: report.rescans,
      rescanReason: report.rescanReason
    )
  }
}

extension LedgerCounts {
  /// By status, with `assets.` or `handoffs.` before it.
  var shown: [String: Int] {
    var shown: [String: Int] = [:]
    for (status, count) in assets { shown["assets.\(status.rawValue)"] = count }
    for (status, count) in handoffs { shown["handoffs.\(status.rawValue)"] = count }
    return shown
  }
}

extension HeldOrderReport {
  init(_ held: HeldOrder) {
    self.init(
      held.path,
      localIdentifiers: held.order.localIdentifiers,
      destination: held.order.destination,
      title: held.order.title,
      heldAt: held.heldAt
    )
  }
}

extension LateResultReport {
  init(_ late: LateResult) {
    self.init(
      at: late.at,
      result: late.kind,
      output: late.output,
      errorCode: late.errorCode,
      errorMessage: late.errorMessage
    )
  }
}

extension LedgerError {
  /// As an answer to whoever asked.
  var refusal: ControlError {
    if case .dependency(let error) = self { return ControlError(refusal: error) }
    let kind: ControlError.Code = isAboutNothing ? .notFound : .refused
    guard let code else { return ControlError(kind, description) }
    return ControlError(refusal: ResultError(code, detail, effect: .none), kind)
  }

  /// The protocol's name for what a sender did wrong; nil for what is no sender's.
  private var code: ErrorCode? {
    switch self {
    case .unknownAsset: .assetMissing
    case .assetDeleted: .assetDeleted
    case .keyReused: .keyReused
    case .alreadySucceeded: .alreadyHandedOff
    case .malformedOrder: .malformedRequest
    case .notLocal, .missing, .vanished, .damaged, .unusable, .cut, .headLost, .keyLost,
      .identifierCollision, .pinned, .unknownHandoff, .dependency, .leaseLost, .unknownNotice,
      .noticeNotFailed, .hasEnded, .illegal:
      nil
    }
  }

  /// The description without the code.
  private var detail: String {
    guard case .malformedOrder(let destination, let detail) = self else { return description }
    return "\(destination): \(detail)"
  }

  /// What was asked for is not there, as opposed to not being allowed.
  private var isAboutNothing: Bool {
    switch self {
    case .unknownAsset, .unknownHandoff, .unknownNotice: true
    case .notLocal, .missing, .vanished, .damaged, .unusable, .cut, .headLost, .keyLost,
      .identifierCollision,
      .assetDeleted, .pinned, .leaseLost, .keyReused, .alreadySucceeded, .malformedOrder,
      .dependency,
      .noticeNotFailed, .hasEnded, .illegal:
      false
    }
  }
}

extension DropFolderSettings {
  /// The original may be taken into the library instead of being copied.
  var takesSource: Bool { original == .remove && !originalWaitsForHandoffs }
}
