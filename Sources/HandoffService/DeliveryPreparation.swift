import AssetLibrary
import HandoffCore
import HandoffLog
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
  let settings: SettingsInForce
  /// Of the destination that a stage works for, which goes by them to its end; nil for whoever asks about
  /// any destination.
  let own: DestinationSettings?
  let objects: ObjectGuard
  let now: @Sendable () -> Timestamp
  let logger: Logger

  /// How soon a library that is away is looked for again.
  private static let libraryWait: Duration = .seconds(5)
  /// How soon it is looked whether an object was read again.
  private static let readingWait: Duration = .seconds(1)
  private static let missing = "the asset's file is not in the library"
  private static let damaged = "the asset's file in the library is damaged"
  /// How soon a grant that failed for another reason is tried again.
  private static let grantWait: Duration = .seconds(30)

  /// Checks, and grants the assets to the receiver.
  func prepare(
    _ handoff: Handoff,
    constraints: Constraints
  ) async throws -> Outcome<GrantedAsset> {
    switch try await check(handoff, constraints: constraints) {
    case .refuse(let error): return .refuse(error)
    case .wait(let waiting): return .wait(waiting)
    case .ready(let assets):
      let obstacle: Outcome<GrantedAsset>? = try await obstacle(among: assets)
      if let obstacle { return obstacle }
      return await grant(assets, handoff)
    }
  }

  /// Checks, and looks at the objects, for a receiver that reads by grant instead of by path.
  func inspect(_ handoff: Handoff, constraints: Constraints) async throws -> Outcome<Asset> {
    let outcome = try await check(handoff, constraints: constraints)
    guard case .ready(let assets) = outcome else { return outcome }
    return try await obstacle(among: assets) ?? outcome
  }

  /// Only checks.
  func check(_ handoff: Handoff, constraints: Constraints) async throws -> Outcome<Asset> {
    var assets: [Asset] = []
    guard await library.isAvailable() else { return .wait(libraryAway) }
    for identifier in handoff.localIdentifiers {
      switch try await check(identifier, handoff) {
      case .ready(let found): assets += found
      case .refuse(let error): return .refuse(error)
      case .wait(let waiting): return .wait(waiting)
      }
    }
    let validation = RequestValidation(constraints: constraints)
    if let violation = validation.violation(by: assets.map(\.constrained)) {
      return .refuse(violation)
    }
    return .ready(assets)
  }

  /// Whether one asset may be read for a handoff now.
  func check(_ identifier: LocalIdentifier, _ handoff: Handoff) async throws -> Outcome<Asset> {
    guard await library.isAvailable() else { return .wait(libraryAway) }
    let asset = try await ledger.asset(identifier)
    if let refusal = asset.standing.refusal(of: identifier) { return .refuse(refusal) }
    guard let receiver = own ?? settings.now.destinations[handoff.destination] else {
      // Which folders and which rendition it was limited to, nobody knows any more.
      return .refuse(Self.unconfigured(identifier, handoff.destination))
    }
    guard let asset, try await isOpen(asset, to: receiver) else {
      return .refuse(Self.limited(identifier, handoff.destination))
    }
    guard let name = receiver.rendition else {
      return .ready([asset])
    }
    // The ledger lets it go only with the rendition, which may be gone since.
    guard let given = asset.given(as: name) else {
      return .refuse(
        ResultError(
          .dependencyFailed,
          "the asset has no rendition \(name)",
          effect: .none,
          retry: .afterFix,
          localIdentifier: identifier
        )
      )
    }
    return .ready([given])
  }

  // MARK: Parts

  private func grant(_ assets: [Asset], _ handoff: Handoff) async -> Outcome<GrantedAsset> {
    do throws(LibraryError) {
      let paths = try await library.grant(
        assets.map { GrantRequest(digest: $0.digest, name: $0.exportName) },
        destination: handoff.destination,
        handoff: handoff.id.description
      )
      return .ready(zip(assets, paths).map { GrantedAsset(asset: $0, path: $1) })
    } catch {
      logger.warning(
        "The assets of a handoff could not be granted",
        [.handoffID: handoff.id.description, .error: error.description]
      )
      return outcome(of: error, assets)
    }
  }

  private func outcome<Granted>(
    of error: LibraryError,
    _ assets: [Asset]
  ) -> Outcome<Granted> {
    // The library stops at the first that it cannot grant, so only of one asset is it known which.
    let identifier = assets.count == 1 ? assets.first?.localIdentifier : nil
    switch error.code {
    case .objectMissing:
      return .refuse(Self.error(.assetMissing, Self.missing, identifier))
    case .objectDamaged:
      return .refuse(Self.error(.assetDamaged, Self.damaged, identifier))
    case .unavailable:
      return .wait(libraryAway)
    case .noSpace, .readOnly, .notPermitted, .inputOutput, .inUse, .unknownFormat, .sourceChanged,
      .checksumMismatch, .sourceUnreadable, .malformedRecord, .invalidName, .other:
      return .wait(.init(.backoff, until: now().advanced(by: Self.grantWait)))
    }
  }

  /// What the look at the objects has against it; nil for nothing.
  private func obstacle<Granted>(among assets: [Asset]) async throws -> Outcome<Granted>? {
    for asset in assets {
      do {
        switch try await objects.verdict(on: asset) {
        case .good: continue
        case .damaged:
          return .refuse(Self.error(.assetDamaged, Self.damaged, asset.localIdentifier))
        case .missing:
          return .refuse(Self.error(.assetMissing, Self.missing, asset.localIdentifier))
        case .unread:
          return .wait(.init(.backoff, until: now().advanced(by: Self.readingWait)))
        }
      } catch let error as LibraryError {
        return outcome(of: error, assets)
      }
    }
    return nil
  }

  private var libraryAway: Handoff.Waiting {
    .init(.libraryUnavailable, until: now().advanced(by: Self.libraryWait))
  }

  /// One sighting in a folder that the destination may have is enough: the content is the same.
  private func isOpen(_ asset: Asset, to receiver: DestinationSettings) async throws -> Bool {
    // The drop folders whose assets it may have; none: all.
    let allowed = receiver.folders
    guard !allowed.isEmpty else { return true }
    if asset.sources.contains(where: { allowed.contains($0.folder) }) { return true }
    return try await ledger.isAllowed(asset.localIdentifier, to: receiver.name)
  }

  private static func unconfigured(
    _ identifier: LocalIdentifier,
    _ destination: DestinationName
  ) -> ResultError {
    ResultError(
      .accessLimited,
      "the destination \(destination) is not configured any more",
      effect: .none,
      localIdentifier: identifier
    )
  }

  private static func limited(
    _ identifier: LocalIdentifier,
    _ destination: DestinationName
  ) -> ResultError {
    ResultError(
      .accessLimited,
      "the destination is limited to other drop folders than this asset's",
      effect: .none,
      remedy: "`handoff allow \(identifier) \(destination)` lets it have this one",
      localIdentifier: identifier
    )
  }

  private static func error(
    _ code: ErrorCode,
    _ message: String,
    _ identifier: LocalIdentifier?
  ) -> ResultError {
    ResultError(code, message, effect: .none, localIdentifier: identifier)
  }
}
