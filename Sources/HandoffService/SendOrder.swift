import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol

/// What a sender asks for, and whether the configuration lets it pass.
struct SendOrder: Sendable {
  let order: HandoffOrder
  private let request: SendRequest
  private let violation: ResultError?

  /// - Throws: ``ControlError`` with `malformed_request`.
  init(_ request: SendRequest, isBulk: Bool = false, now: Timestamp) throws {
    violation = request.violation(now: now)
    if let violation, violation.code != .expired { throw ControlError(refusal: violation) }
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
    order.isBackfill = isBulk
    order.isExpiryMoment = request.expiresAt != nil
    self.order = order
    self.request = request
  }

  /// Checks what may have been right when the same was asked for before, so that a second try with its
  /// key is not refused for it.
  ///
  /// - Returns: the destination's settings.
  /// - Throws: ``ControlError`` with the protocol's code: `expired`, `destination_unknown`,
  ///   `callback_unknown`.
  @discardableResult
  func check(_ configuration: Configuration) throws -> DestinationSettings {
    if let violation { throw ControlError(refusal: violation) }
    guard let settings = configuration.destination(request.destination) else {
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
    return settings
  }

  private static func refusal(_ code: ErrorCode, _ message: String) -> ControlError {
    ControlError(refusal: ResultError(code, message, effect: .none))
  }
}
