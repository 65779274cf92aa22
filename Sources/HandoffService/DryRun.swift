import Destinations
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

/// What would become of an order: the sender's checks, as ``Ledger/create(_:again:)`` and each attempt make
/// them, then the receiver's own; nothing is ordered, granted or submitted.
struct DryRun: Sendable {
  let ledger: Ledger
  let delivery: DeliveryPreparation
  let running: RunningPlugins
  let roster: DestinationRoster
  let now: @Sendable () -> Timestamp

  /// What a second try with the same key is told; nil where none was made with it.
  func repeated(_ order: HandoffOrder) async throws -> DryRunReport? {
    do {
      guard let made = try await ledger.handoff(sameAs: order) else { return nil }
      var report = DryRunReport(order.destination, order.localIdentifiers, .accepted)
      report.note =
        "its key has made \(made.id), which is \(made.status.rawValue): no other is made"
      return report
    } catch let error as LedgerError {
      return try refused(order, error)
    }
  }

  func report(
    _ order: HandoffOrder,
    again: Bool,
    planned: [DestinationName] = [],
    to settings: DestinationSettings
  ) async throws -> DryRunReport {
    do {
      _ = try await ledger.earlier(order, again: again)
      if try await ledger.waitsForOthers(order, planned: planned) {
        var report = DryRunReport(order.destination, order.localIdentifiers, .waiting)
        report.waiting = HandoffReport.Waiting(reason: .after, until: nil)
        return report
      }
    } catch let error as LedgerError {
      return try refused(order, error)
    }
    let receiver = running[settings.name]
    let constraints = receiver.map { settings.constraints(of: $0.introduction) }
    var report = DryRunReport(order.destination, order.localIdentifiers, .accepted)
    switch try await check(order, constraints ?? settings.constraints) {
    case .refuse(let error): report.refuse(error, .sender)
    case .wait(let waiting):
      report.verdict = .waiting
      report.waiting = HandoffReport.Waiting(reason: waiting.reason, until: waiting.until)
    case .ready(let assets):
      do throws(ResultError) {
        let request = try carried(order, assets, settings, receiver)
        report.protocolVersion = request.protocolVersion
        await ask(request, assets, settings, &report)
      } catch {
        report.refuse(error, .sender)
      }
      if report.verdict == .accepted, let waiting = try await waiting(order) {
        report.verdict = .waiting
        report.waiting = HandoffReport.Waiting(reason: waiting.reason, until: waiting.until)
      }
    }
    return report
  }

  /// What it would wait for besides: a person, or the destination.
  private func waiting(_ order: HandoffOrder) async throws -> Handoff.Waiting? {
    guard let waits = try await ledger.destinationWaits(at: now())[order.destination] else {
      return nil
    }
    if waits.rules.needsApproval { return .init(.approval) }
    if waits.isStopped { return .init(.paused) }
    return waits.quotaFreeAt.map { .init(.quota, until: $0) }
  }

  private func refused(_ order: HandoffOrder, _ error: LedgerError) throws -> DryRunReport {
    guard let reason = error.refusal.reason else { throw error }
    var report = DryRunReport(order.destination, order.localIdentifiers, .refused)
    report.refuse(reason, .sender)
    return report
  }

  private func check(
    _ order: HandoffOrder,
    _ constraints: Constraints
  ) async throws -> DeliveryPreparation.Outcome<Asset> {
    let handoff = Handoff(
      id: Handoff.ID(row: 0),
      destination: order.destination,
      localIdentifiers: order.localIdentifiers,
      status: .pending,
      createdAt: now()
    )
    return try await delivery.inspect(handoff, constraints: constraints)
  }

  private func carried(
    _ order: HandoffOrder,
    _ assets: [Asset],
    _ settings: DestinationSettings,
    _ receiver: RunningPlugins.Plugin?
  ) throws(ResultError) -> HandoffRequest {
    let request = HandoffRequest(
      localIdentifiers: order.localIdentifiers,
      state: try Self.token,
      title: order.title,
      syncPublish: order.syncPublish,
      callbackID: order.callbackID,
      expiresAt: order.expiresAt,
      metadata: order.metadata
    )
    let agreement: VersionAgreement
    if let receiver {
      agreement = receiver.introduction.agreement
    } else {
      agreement = try settings.configuredAgreement
    }
    return try request.carried(by: agreement, assets)
  }

  /// Asks the receiver, where it is one that can be asked.
  private func ask(
    _ request: HandoffRequest,
    _ assets: [Asset],
    _ settings: DestinationSettings,
    _ report: inout DryRunReport
  ) async {
    report.preflight = .unavailable
    guard settings.transport == .plugin else {
      report.note = "transport \(settings.transport.rawValue) has no preflight"
      return
    }
    guard let receiver = running[settings.name] else {
      return report.takeAbsence(roster[settings.name]?.condition)
    }
    let parameters = PreflightParameters(
      handoffID: "preflight",
      request: request,
      assets: assets.map(\.constrained)
    )
    do {
      guard let answer = try await receiver.process.preflight(parameters) else {
        report.note = "the receiver offers no preflight"
        return
      }
      report.take(answer)
    } catch {
      report.note = "the receiver did not answer preflight: \(error)"
    }
  }

  /// Of no handoff, and another one each time: no result can be sent with it.
  private static var token: StateToken {
    get throws(ResultError) {
      var generator = SystemRandomNumberGenerator()
      let digits = (0..<4).map { _ in String(generator.next(), radix: 36) }.joined(separator: "-")
      guard let token = StateToken("preflight.\(digits)") else {
        throw ResultError(.malformedRequest, "no token could be made", effect: .none)
      }
      return token
    }
  }
}

extension DryRunReport {
  fileprivate mutating func refuse(_ error: ResultError, _ side: Handoff.Side) {
    verdict = .refused
    self.error = HandoffReport.Failure(error, side)
  }

  fileprivate mutating func take(_ answer: PreflightAnswer) {
    preflight = .answered
    changes = answer.changes
    guard !answer.accepted else { return }
    refuse(answer.error ?? PluginSession.refusedWithoutReason, .receiver)
  }

  /// A receiver that does not run says nothing; one without a version in common would never be sent it.
  fileprivate mutating func takeAbsence(_ condition: DestinationHealth.Condition?) {
    switch condition {
    case .down(let reason), .circuitOpen(let reason): note = "the receiver does not run: \(reason)"
    case .incompatible(let error):
      preflight = .skipped
      refuse(error, .sender)
    case .starting, .up, nil: note = "the receiver is starting"
    }
  }
}
