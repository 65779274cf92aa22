import HandoffCore
import HandoffProtocol
import Ledger
import Testing

extension LedgerFixture {
  /// A handoff of a fresh asset that stands at a status, with its request; the time goes on where that
  /// must be.
  ///
  /// What has ended did so without its receiver's word, but for the successful and the refused one.
  func standing(at status: HandoffStatus, _ number: Int = 1) async throws -> ClaimedHandoff {
    let id: Handoff.ID
    switch status {
    case .pending, .leased:
      id = try #require(try await add(number, to: [.archive]).created.first)
      if status == .leased { _ = try await claim() }
    case .submitted, .accepted, .outcomeUnknown, .needsUser, .succeeded, .cancelled, .refused,
      .failed, .expired:
      id = try await submitted(
        number,
        ceiling: status == .expired ? time.now.advanced(by: .seconds(1)) : nil
      ).handoff.id
    }
    let sent = try #require(try await ledger.sent(id))
    switch status {
    case .pending, .leased, .submitted: break
    case .accepted: try await ledger.recordAcceptance(id)
    case .outcomeUnknown: _ = try await ledger.recordBrokerFailure(id, .crashed)
    case .needsUser: _ = try await ledger.recordNeedOfUser(id, "sign in")
    case .succeeded: _ = try await answer(sent, .success(output: ["first": .bool(true)]))
    case .cancelled: _ = try await ledger.cancel(id)
    case .refused:
      let no = ResultError(.unsupportedMedia, "no", effect: .none)
      _ = try await answer(sent, .failure(no))
    case .failed:
      let partly = ResultError(.receiverFailed, "half of it", effect: .applied)
      _ = try await ledger.recordBrokerFailure(id, partly)
    case .expired:
      time.advance(.seconds(1))
      _ = try await ledger.expireDue()
    }
    try #require(try await handoff(id).status == status)
    return sent
  }
}
