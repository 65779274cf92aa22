import AssetLibrary
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// What a claimed handoff hands over: one asset with the path that its receiver may read.
struct GrantedAsset: Sendable {
  let asset: Asset
  let path: BytePath
}

/// The sender's side of "both sides check": before anything is sent, the assets must be there and meet
/// what the destination takes; then its receiver is granted them.
struct DeliveryPreparation: Sendable {
  enum Outcome<Asset: Sendable>: Sendable {
    case ready([Asset])
    /// It can never be delivered as it is.
    case refuse(ResultError)
    /// What stands in the way can pass.
    case wait(Handoff.Waiting)
  }

  let library: AssetLibrary
  let ledger: Ledger

  /// Checks, and grants the assets to the receiver.
  func prepare(
    _ handoff: Handoff,
    constraints: Constraints
  ) async throws -> Outcome<GrantedAsset> {
    switch try await check(handoff, constraints: constraints) {
    case .refuse(let error): return .refuse(error)
    case .wait(let waiting): return .wait(waiting)
    case .ready(let assets):
      let paths = try await library.grant(
        assets.map { GrantRequest(digest: $0.digest, name: $0.exportName) },
        destination: handoff.destination,
        handoff: handoff.id.description
      )
      return .ready(zip(assets, paths).map { GrantedAsset(asset: $0, path: $1) })
    }
  }

  /// Only checks.
  func check(_ handoff: Handoff, constraints: Constraints) async throws -> Outcome<Asset> {
    guard await library.isAvailable() else { return .wait(.init(.libraryUnavailable)) }
    var assets: [Asset] = []
    for identifier in handoff.localIdentifiers {
      guard let asset = try await ledger.asset(identifier) else {
        return .refuse(Self.error(.assetMissing, "there is no such asset", identifier))
      }
      switch asset.status {
      case .present: assets.append(asset)
      case .deleted: return .refuse(Self.error(.assetDeleted, "the asset was deleted", identifier))
      case .damaged: return .refuse(Self.error(.assetDamaged, "the asset is damaged", identifier))
      case .unavailable: return .wait(.init(.libraryUnavailable))
      }
    }
    if let violation = constraints.violation(by: assets.map(\.constrained)) {
      return .refuse(violation)
    }
    return .ready(assets)
  }

  private static func error(
    _ code: ErrorCode,
    _ message: String,
    _ identifier: LocalIdentifier
  ) -> ResultError {
    ResultError(code, message, effect: .none, localIdentifier: identifier)
  }
}

extension Asset {
  /// The name of the newest export of this content, which a granted path ends with.
  var exportName: BytePath {
    sources.last?.path.lastComponent ?? BytePath(localIdentifier.uuid)
  }

  fileprivate var constrained: ConstrainedAsset {
    ConstrainedAsset(
      localIdentifier: localIdentifier,
      size: size,
      duration: facts.duration,
      container: facts.container,
      videoCodec: facts.videoCodec,
      width: facts.width,
      height: facts.height
    )
  }
}
