import HandoffProtocol

extension Receiver {
  /// How long, and how many of, the handoffs that ended and were delivered are remembered: long enough
  /// that a broker that was restored from yesterday's backup is still answered.
  private static var longest: Duration { .seconds(30 * 86_400) }
  private static var most: Int { 4096 }

  /// Forgets delivered handoffs that are old, or too many; not worth it for each single one.
  func pruneNowAndThen() async {
    if delivered.count.isMultiple(of: 64) { await prune() }
  }

  /// Forgets delivered handoffs that are old, or too many.
  func prune() async {
    let limit = now().advanced(by: .zero - Self.longest)
    let ended = entries.values
      .filter { $0.isAcknowledged && !$0.isUnknown && active[$0.handoffID] == nil }
      .sorted { $0.receivedAt < $1.receivedAt }
    let surplus = ended.count - Self.most
    // A whole batch at a time: sorting for every single one would cost more than it frees.
    let tooMany = surplus > Self.most / 8 ? ended.prefix(surplus) : []
    let old = ended.prefix { $0.receivedAt < limit }
    let ids = (tooMany.count > old.count ? tooMany : old).map(\.handoffID)
    guard !ids.isEmpty else { return }
    do {
      try await journal.remove(ids)
      for id in ids { entries[id] = nil }
      delivered.subtract(ids)
    } catch {
      ProcessLog.write("forgetting \(ids.count) old handoffs: \(error)")
    }
  }
}
