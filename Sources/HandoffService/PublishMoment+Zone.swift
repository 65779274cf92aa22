import Glibc
package import HandoffConfig
import HandoffCore
package import HandoffProtocol

extension PublishMoment {
  /// The moment, with a local date and time read in the host's zone (localtime_r(3)).
  package var inHostZone: Timestamp { timestamp(secondsEast: \.secondsEast) }
}

extension Timestamp {
  /// As text in the host's zone, with its offset there.
  package var inHostZone: String {
    let seconds = secondsEast
    let local = advanced(by: .seconds(seconds)).rfc3339.dropLast()
    func digits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = abs(seconds) / 60
    return "\(local)\(seconds < 0 ? "-" : "+")\(digits(minutes / 60)):\(digits(minutes % 60))"
  }

  /// How far the host's zone is ahead of UTC at this moment.
  fileprivate var secondsEast: Int {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff
  }
}

extension FolderRoute {
  /// The orders to place for assets, with their moment.
  ///
  /// - Parameters:
  ///   - localIdentifiers: the assets.
  ///   - isBackfill: they give way to new exports.
  /// - Returns: an order for each destination of the route.
  func datedOrders(
    for localIdentifiers: [LocalIdentifier],
    isBackfill: Bool
  ) -> [HandoffOrder] {
    let moment = publishAt?.inHostZone
    return orders(for: localIdentifiers).map { order in
      var order = order
      order.publishAt = moment
      order.isBackfill = isBackfill
      return order
    }
  }
}
