import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol

/// Checks what a sender asks for against the configuration, before the ledger is asked.
struct SendOrder: Sendable {
  let order: HandoffOrder

  /// - Throws: ``ControlError`` with the protocol's code: `malformed_request`, `expired`,
  ///   `destination_unknown`, `callback_unknown`.
  init(_ request: SendRequest, _ configuration: Configuration, now: Timestamp) throws {
    if let violation = request.violation(now: now) { throw ControlError(refusal: violation) }
    guard configuration.destination(request.destination) != nil else {
      let names = configuration.destinations.map(\.name.text).joined(separator: ", ")
      throw Self.refusal(
        .destinationUnknown,
        "the running broker knows no \(request.destination), only \(names); after a change of the "
          + "configuration it has to be started again"
      )
    }
    if let callback = request.callbackID, configuration.callbacks[callback] == nil {
      throw Self.refusal(.callbackUnknown, "\(callback) is not configured")
    }
    var order = HandoffOrder(
      destination: request.destination,
      localIdentifiers: request.localIdentifiers,
      isAutomatic: false
    )
    order.title = request.title
    order.syncPublish = request.syncPublish
    order.callbackID = request.callbackID
    order.metadata = request.metadata
    order.key = request.key
    order.publishAt = request.publishAt
    order.expiresAt = request.expiry(now: now)
    order.isExpiryMoment = request.expiresAt != nil
    self.order = order
  }

  private static func refusal(_ code: ErrorCode, _ message: String) -> ControlError {
    ControlError(refusal: ResultError(code, message, effect: .none))
  }
}
