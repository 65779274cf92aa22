import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

extension LedgerReading {
  /// How each configured destination is, as far as the ledger tells.
  func standings(
    under configuration: Configuration,
    at now: Timestamp
  ) async throws -> [DestinationName: DestinationStanding] {
    let waits = try await destinationWaits(at: now)
    var standings: [DestinationName: DestinationStanding] = [:]
    for settings in configuration.destinations {
      var standing = DestinationStanding()
      standing.isPaused = waits[settings.name]?.isStopped ?? false
      standing.quotaFreeAt = waits[settings.name]?.quotaFreeAt
      standings[settings.name] = standing
    }
    return standings
  }
}

extension [DestinationName: DestinationStanding] {
  /// A destination that is not among them is not configured.
  subscript(known name: DestinationName) -> DestinationStanding {
    if let standing = self[name] { return standing }
    var unknown = DestinationStanding()
    unknown.isConfigured = false
    return unknown
  }
}

extension HandoffReport {
  /// As it stands now: what is open goes nowhere if its destination is not among those that there are.
  init(
    _ handoff: Handoff,
    under standings: [DestinationName: DestinationStanding],
    at now: Timestamp
  ) {
    self.init(handoff)
    let waiting = handoff.waiting(under: standings[known: handoff.destination], at: now)
    self.waiting = waiting.map { Waiting(reason: $0.reason, until: $0.until) }
  }

  /// Adds what is told of one handoff only: its moment, its approval, and a sentence on where it stands.
  mutating func complete(
    _ handoff: Handoff,
    from ledger: some LedgerReading,
    under standings: [DestinationName: DestinationStanding],
    hasBroker: Bool
  ) async throws {
    publishAt = try await ledger.publishMoment(of: handoff.id)
    publishAtLocal = publishAt?.inHostZone
    if let known = try await ledger.approval(of: handoff.id),
      known.approved != nil || waiting?.reason == .approval
    {
      approval = Approval(
        digest: known.digest,
        approvedAt: known.approvedAt,
        approvedBy: known.approvedBy,
        voidedAt: known.voidedAt
      )
    }
    if let known = try await ledger.lastVerification(of: handoff.id) {
      verification = Verification(at: known.at, standing: known.standing, detail: known.detail)
    }
    explanation =
      WaitingSentence(
        report: self,
        standing: standings[known: handoff.destination],
        hasBroker: hasBroker
      ).text
  }
}
