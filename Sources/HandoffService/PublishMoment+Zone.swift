import Glibc
import HandoffConfig
import HandoffCore
import HandoffProtocol

extension PublishMoment {
  /// The moment, with a local date and time read in the host's zone (localtime_r(3)).
  var inHostZone: Timestamp {
    timestamp { moment in
      var seconds = time_t(moment.milliseconds / 1000)
      var parts = tm()
      return localtime_r(&seconds, &parts) == nil ? 0 : parts.tm_gmtoff
    }
  }
}

extension FolderRoute {
  /// The orders to place for assets, with their moment.
  func datedOrders(for localIdentifiers: [LocalIdentifier]) -> [HandoffOrder] {
    let moment = publishAt?.inHostZone
    return orders(for: localIdentifiers).map { order in
      var order = order
      order.publishAt = moment
      return order
    }
  }
}
