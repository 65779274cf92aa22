import HandoffCore
import Synchronization

/// What destinations wait for, for the writer and for who reads beside it.
final class OrderRules: Sendable {
  private let order = Mutex(HandingOrder.none)

  var current: HandingOrder { order.withLock { $0 } }

  func set(_ order: HandingOrder) {
    self.order.withLock { $0 = order }
  }
}
