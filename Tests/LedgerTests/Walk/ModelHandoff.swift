import HandoffProtocol
import Ledger

/// One handoff as DESIGN.md has it, written down naively and without the product's table of moves.
struct ModelHandoff {
  let id: Int64
  let destination: DestinationName
  let asset: Int
  let token: StateToken
  var isExpiryMoment = false
  /// The sender wants nothing published before it.
  var publishAt: Int64?

  var status = "pending"
  var attempts = 0
  var failures = 0
  var lease: ClaimedHandoff.LeaseID?
  var waiting: String?
  var until: Int64?
  var due: Int64?
  var expiresAt: Int64?
  var ceilingAt: Int64?
  var leaseUntil: Int64?
  var firstAttempt: Int64?
  var wasSubmitted = false
  var result: String?
  /// The effect of the error that is shown with it.
  var effect: String?
  /// What earlier attempts may have left behind.
  var earlier: String?
  var isConsumed = false
  var lateResults = 0
  var hasLateSuccess = false
  var isWished = false
  var need: String?

  init(id: Int64, destination: DestinationName, asset: Int, token: StateToken) {
    self.id = id
    self.destination = destination
    self.asset = asset
    self.token = token
  }

  var isFinal: Bool {
    ["succeeded", "cancelled", "refused", "failed", "expired"].contains(status)
  }
  var isUnsent: Bool { status == "pending" || status == "leased" }
  /// A receiver has it, as far as anybody knows.
  var isHeld: Bool { ["submitted", "accepted", "needs_user"].contains(status) }

  func isOverdue(at now: Int64) -> Bool {
    (expiresAt.map { $0 <= now } ?? false) || (ceilingAt.map { $0 <= now } ?? false)
  }

  func isClaimable(at now: Int64) -> Bool {
    status == "pending" && (due.map { $0 <= now } ?? false)
      && (expiresAt.map { $0 > now } ?? true)
  }

  /// Whether another handoff of the same pair needs `again`.
  var stands: Bool {
    switch status {
    case "refused": false
    case "cancelled": (effect ?? "none") != "none" || lateResults > 0
    case "failed", "expired": effect != "none" || lateResults > 0
    default: true
    }
  }

  /// Enters a status, and drops what only the one before had.
  mutating func enter(_ next: String) {
    status = next
    lease = nil
    leaseUntil = nil
    waiting = nil
    until = nil
    if next != "needs_user" { need = nil }
    if isFinal { isWished = false }
  }

  /// Shows an error; one without effect does not hide what came before.
  mutating func show(_ error: String?) {
    effect = error == "none" ? earlier ?? "none" : error
  }

  mutating func wait(_ reason: String?, until moment: Int64?, at now: Int64) {
    waiting = reason
    until = reason == nil ? nil : moment
    due = reason == nil ? now : moment
  }

  mutating func comeBack(at now: Int64) {
    enter("pending")
    wait(nil, until: nil, at: now)
    show(effect)
  }

  mutating func comeBackUnsent(_ reason: String?, until moment: Int64?, at now: Int64) {
    if failures == 0, !wasSubmitted { firstAttempt = nil }
    comeBack(at: now)
    wait(reason, until: moment, at: now)
  }

  mutating func end(_ status: String, _ result: String?, error: String?, consuming: Bool) {
    enter(status)
    self.result = result
    show(error)
    isConsumed = consuming
  }

  mutating func expire() {
    let wasSent = !isUnsent
    end("expired", nil, error: wasSent ? "unknown" : "none", consuming: false)
  }

  /// The wall clock is set: durations stay what they are.
  mutating func move(by step: Int64) {
    guard !isFinal else { return }
    if !isExpiryMoment { expiresAt = expiresAt.map { $0 + step } }
    ceilingAt = ceilingAt.map { $0 + step }
    leaseUntil = leaseUntil.map { $0 + step }
    firstAttempt = firstAttempt.map { $0 + step }
    if waiting != "publish_at" {
      due = due.map { $0 + step }
      until = until.map { $0 + step }
    }
  }
}
