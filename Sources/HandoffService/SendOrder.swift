import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol

/// Checks what a sender asks for against the configuration, before the ledger is asked.
struct SendOrder: Sendable {
  let order: HandoffOrder

  /// - Throws: ``ControlError`` naming the protocol's code: `destination_unknown`, `callback_unknown`.
  init(_ parameters: SendParameters, _ configuration: Configuration, now: Timestamp) throws {
    guard let destination = DestinationName(parameters.destination),
      configuration.destination(destination) != nil
    else {
      let names = configuration.destinations.map(\.name.text).joined(separator: ", ")
      throw ControlError(
        .refused,
        "destination_unknown: the running broker knows no \(parameters.destination), only \(names); "
          + "after a change of the configuration it has to be started again"
      )
    }
    var order = HandoffOrder(
      destination: destination,
      localIdentifiers: parameters.localIdentifiers,
      isAutomatic: false
    )
    order.title = parameters.title
    order.syncPublish = parameters.syncPublish
    order.key = parameters.key
    order.publishAt = parameters.publishAt
    order.expiresAt = parameters.expiresInMilliseconds.map {
      now.advanced(by: .milliseconds($0))
    }
    if let text = parameters.callbackID {
      guard let callback = CallbackID(text), configuration.callbacks[callback] != nil else {
        throw ControlError(.refused, "callback_unknown: \(text) is not configured")
      }
      order.callbackID = callback
    }
    self.order = order
  }
}
