import AssetLibrary
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// Why handoffs wait, and a person's approval of those that wait for one.
extension ControlQuestions {
  /// How each configured destination is now.
  func standings() async throws -> [DestinationName: DestinationStanding] {
    var standings = try await ledger.standings(under: configuration, at: now())
    let isLibraryAway = await !care.library.isAvailable()
    for health in health {
      standings[health.name]?.take(health)
      standings[health.name]?.isLibraryAway = isLibraryAway
    }
    return standings
  }

  func namedStandings() async throws -> [String: DestinationStanding] {
    Dictionary(uniqueKeysWithValues: try await standings().map { ($0.text, $1) })
  }

  func report(_ handoff: Handoff) async throws -> HandoffReport {
    HandoffReport(handoff, under: try await standings(), at: now())
  }

  /// With what is told of one handoff only.
  func fullReport(_ handoff: Handoff) async throws -> HandoffReport {
    var report = try await report(handoff)
    try await report.complete(handoff, from: ledger, under: try await standings(), hasBroker: true)
    return report
  }

  /// A person lets a handoff go.
  func approve(
    _ parameters: ApproveParameters,
    from peer: ControlPeer
  ) async throws -> ApprovalReport {
    let id = try handoffID(WaitParameters(handoffID: parameters.handoffID))
    do {
      let done = try await ledger.approve(id, expecting: parameters.expect, by: peer.user)
      if !done.wasApproved { await results.follow(done.handoff) }
      var files: [ApprovalReport.File] = []
      for identifier in done.handoff.localIdentifiers {
        guard let asset = try await ledger.asset(identifier) else { continue }
        let file = ApprovalReport.File(
          identifier,
          name: asset.exportName.lossyText,
          sha256: asset.digest,
          size: asset.size
        )
        files.append(file)
      }
      return ApprovalReport(
        try await fullReport(done.handoff),
        files: files,
        digest: done.approval.digest,
        wasApproved: done.wasApproved
      )
    } catch let error as ApprovalRefused {
      throw ControlError(.refused, error.description)
    } catch let error as LedgerError {
      throw error.refusal
    }
  }

  /// What `status` says of a pause.
  static func sentence(_ pause: DestinationPause) -> String {
    let who = pause.pausedBy.map { " by uid \($0)" } ?? ""
    return
      "paused\(who) since \(pause.pausedAt.rfc3339); `handoff resume \(pause.destination)` ends it"
  }
}
