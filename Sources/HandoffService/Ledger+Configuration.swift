import HandoffConfig
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// What a configuration means for a ledger; said at each start, and again by each reload.
extension Ledger {
  /// Has the pending handoffs follow what the configuration says of their destinations now.
  ///
  /// - Parameter destinations: about to be in force; nothing goes by what is new in them yet.
  /// - Throws: where the ledger cannot be written.
  func revise(for destinations: [DestinationSettings]) async throws {
    let addresses = destinations.compactMap { settings in
      settings.transport == .http ? settings.url.map { (settings.name, $0) } : nil
    }
    try await liftStops(addresses: Dictionary(addresses) { first, _ in first })
    try await reconsiderAfter(HandingOrder(destinations))
    try await setRules(destinations.rules)
  }

  /// When each folder was seen for the first time, which for those that never were is now.
  func firstSeen(
    folders: [DropFolderSettings]
  ) async throws -> [BytePath: Timestamp] {
    var moments: [BytePath: Timestamp] = [:]
    for folder in folders { moments[folder.path] = try await firstSeen(folder: folder.path) }
    return moments
  }
}
