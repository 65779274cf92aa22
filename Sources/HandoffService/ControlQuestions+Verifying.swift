import Destinations
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger

/// Looking back at what receivers have done.
extension ControlQuestions {
  /// Has the receiver of a handoff that succeeded look again, and records what it found.
  ///
  /// It is no attempt of the handoff, and keeps none from being sent. What was found before whoever asked
  /// has gone is recorded; after that the receiver is told that nobody waits any more. Where the receiver
  /// gives no answer, that nobody knows is what was found: else it would come first in every walk, and those
  /// with a limit would never come round.
  ///
  /// - Throws: ``ControlError``: `refused` where its receiver cannot do that, `unavailable` where it does
  ///   not run, `failed` where it gave no answer.
  func verify(
    _ parameters: WaitParameters,
    from peer: ControlPeer
  ) async throws -> VerificationReport {
    let id = try handoffID(parameters)
    guard let handoff = try await ledger.handoff(id) else {
      throw ControlError(.notFound, "there is no handoff \(id)")
    }
    guard handoff.status == .succeeded else {
      throw ControlError(
        .refused,
        "handoff \(id) is \(handoff.status.rawValue), and only what has succeeded can be looked at again"
      )
    }
    let plugin = try verifier(of: handoff.destination)
    let delivered = VerifyParameters(
      handoffID: id.description,
      assets: try await ledger.delivered(of: handoff),
      output: handoff.output
    )
    do {
      return try await peer.presence.whileThere {
        guard let found = try await plugin.process.verify(delivered) else {
          throw Self.cannotVerify(handoff.destination, plugin.introduction)
        }
        return try await record(found, of: handoff, delivered)
      }
    } catch let error as ResultError {
      _ = try await recorded(.unknown, error.message, of: handoff)
      throw ControlError(.failed, "\(handoff.destination): \(error.message)", error)
    }
  }

  /// The running plugin of a destination that can look again.
  private func verifier(of name: DestinationName) throws -> RunningPlugins.Plugin {
    guard let settings = configuration.destination(name) else {
      throw ControlError(.notFound, "there is no destination \(name)")
    }
    guard settings.transport == .plugin else {
      throw ControlError(
        .refused,
        "\(name) is of transport \(settings.transport.rawValue), whose receivers cannot be asked again"
      )
    }
    guard let plugin = running[name] else {
      let reason = roster[name]?.shown.detail.map { ": \($0)" } ?? ""
      throw ControlError(.unavailable, "\(name) does not run now\(reason)")
    }
    guard plugin.introduction.offers(.verify) else {
      throw Self.cannotVerify(name, plugin.introduction)
    }
    return plugin
  }

  private static func cannotVerify(
    _ name: DestinationName,
    _ introduction: PluginIntroduction
  ) -> ControlError {
    let discovery = introduction.discovery
    return ControlError(
      .refused,
      "\(name): its plugin (\(discovery.name) \(discovery.version)) cannot look again at what it has done"
    )
  }

  private func record(
    _ found: [VerifiedAsset],
    of handoff: Handoff,
    _ delivered: VerifyParameters
  ) async throws -> VerificationReport {
    let standing = VerifiedAsset.Standing.worst(of: found.map(\.standing))
    let sentences = found.map(Self.sentence).joined(separator: "; ")
    let at = try await recorded(standing, sentences, of: handoff)
    return VerificationReport(
      handoffID: handoff.id.description,
      destination: handoff.destination,
      title: handoff.title,
      at: at,
      standing: standing,
      bytes: delivered.assets.map(\.size).reduce(0, +),
      assets: found
    )
  }

  private func recorded(
    _ standing: VerifiedAsset.Standing,
    _ detail: String,
    of handoff: Handoff
  ) async throws -> Timestamp {
    do {
      let at = try await ledger.recordVerification(of: handoff.id, standing, detail: detail)
      changes.changed(handoff.id)
      return at
    } catch let error as LedgerError {
      throw error.refusal
    }
  }

  private static func sentence(_ asset: VerifiedAsset) -> String {
    let words = [asset.method.map { "by \($0)" }, asset.location, asset.message].compactMap(\.self)
    return "\(asset.localIdentifier) \(asset.standing.rawValue)"
      + (words.isEmpty ? "" : ": " + words.joined(separator: ", "))
  }
}
