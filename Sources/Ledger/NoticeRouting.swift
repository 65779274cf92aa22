package import HandoffProtocol

/// Who is told of what needs a person, and who delivers notices.
package struct NoticeRouting: Sendable {
  /// The broker's `alert`.
  package var alert: CallbackID?
  /// Told, on the ledger's own thread, of the callback ids for which a commit made notices due; must
  /// not block.
  package var onCommit: @Sendable (Set<CallbackID>) -> Void

  package init(
    alert: CallbackID?,
    onCommit: @escaping @Sendable (Set<CallbackID>) -> Void
  ) {
    self.alert = alert
    self.onCommit = onCommit
  }

  /// Nobody.
  package static let none = NoticeRouting(alert: nil) { _ in }
}
