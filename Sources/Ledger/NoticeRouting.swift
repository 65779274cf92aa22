package import HandoffProtocol

/// Who is told of what needs a person, and who delivers notices.
package struct NoticeRouting: Sendable {
  /// The broker's `alert`, as it is at this moment: a reload may change it.
  package var alertNow: @Sendable () -> CallbackID?
  /// Told, on the ledger's own thread, of the callback ids for which a commit made notices due; must
  /// not block.
  package var onCommit: @Sendable (Set<CallbackID>) -> Void

  package init(
    alertNow: @escaping @Sendable () -> CallbackID?,
    onCommit: @escaping @Sendable (Set<CallbackID>) -> Void
  ) {
    self.alertNow = alertNow
    self.onCommit = onCommit
  }

  /// With an alert that stays.
  package init(
    alert: CallbackID?,
    onCommit: @escaping @Sendable (Set<CallbackID>) -> Void
  ) {
    self.init(alertNow: { alert }, onCommit: onCommit)
  }

  var alert: CallbackID? { alertNow() }

  /// Nobody.
  package static let none = NoticeRouting(alert: nil) { _ in }
}
