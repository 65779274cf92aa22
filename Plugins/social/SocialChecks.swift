import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Looks at a destination's service without publishing anything, for `handoff doctor`.
struct SocialChecks: Sendable {
  let platform: any Platform
  let settings: SocialSettings

  /// How looking at something has ended.
  private enum Look<Value: Sendable>: Sendable {
    case found(Value)
    /// The service answered, and refused.
    case refused(ResultError)
    /// There was no answer.
    case unreached(String)
  }

  func run() async -> [DestinationCheck] {
    let account = await look { try await platform.account() }
    let reachable = reachable(account)
    guard reachable.passed else { return [reachable] }
    return [reachable, credentials(account), await limits()]
  }

  private func reachable(_ account: Look<String>) -> DestinationCheck {
    let remedy = "Check settings.server, the network, and that the destination has network = true."
    return switch account {
    case .found: DestinationCheck("reachable", passed: true, "\(settings.server) answers")
    case .refused(let error) where error.code == .network:
      DestinationCheck("reachable", passed: false, error.message, remedy: error.remedy ?? remedy)
    case .refused: DestinationCheck("reachable", passed: true, "\(settings.server) answers")
    case .unreached(let reason):
      DestinationCheck(
        "reachable",
        passed: false,
        "\(settings.server) does not answer: \(reason)",
        remedy: remedy
      )
    }
  }

  private func credentials(_ account: Look<String>) -> DestinationCheck {
    switch account {
    case .found(let name):
      DestinationCheck("credentials", passed: true, "they are those of \(name)")
    case .refused(let error):
      DestinationCheck("credentials", passed: false, error.message, remedy: error.remedy)
    case .unreached(let reason):
      DestinationCheck("credentials", passed: false, "they could not be tried: \(reason)")
    }
  }

  private func limits() async -> DestinationCheck {
    let limits = await look {
      ServiceLimits(
        constraints: try await platform.limits(),
        further: try await platform.furtherLimits()
      )
    }
    switch limits {
    case .found(let limits):
      return DestinationCheck("limits", passed: true, limits.text ?? "the service tells none")
    case .refused(let error):
      return DestinationCheck("limits", passed: false, error.message, remedy: error.remedy)
    case .unreached(let reason):
      return DestinationCheck("limits", passed: false, "they could not be asked: \(reason)")
    }
  }

  private func look<Value: Sendable>(
    _ work: @Sendable () async throws -> Value
  ) async -> Look<Value> {
    do {
      return .found(try await work())
    } catch let error as ResultError {
      return .refused(error)
    } catch {
      return .unreached("\(error)")
    }
  }
}
