/// The checks of a request that both sides make, each for itself, with this same code.
///
/// The broker makes them before it sends, so that a sender hears early; the receiver makes them on
/// arrival, because its rules are its own, whatever the broker has checked.
public struct RequestValidation: Hashable, Sendable {
  /// What the receiver takes; on the broker's side narrowed by the destination's configuration.
  public var constraints: Constraints
  /// The versions of the request document that are read.
  public var versions: [Int]

  /// Makes the checks of a receiver, or of a broker on its behalf.
  public init(
    constraints: Constraints,
    versions: [Int] = HandoffRequest.supportedVersions
  ) {
    self.constraints = constraints
    self.versions = versions
  }

  /// Why a request is not to be taken, from what it says itself; nil if nothing speaks against it.
  ///
  /// - Parameters:
  ///   - request: as it was read.
  ///   - now: the moment.
  /// - Returns: the refusal, with effect `none`.
  public func violation(by request: HandoffRequest, now: Timestamp) -> ResultError? {
    guard versions.contains(request.protocolVersion) else {
      return ResultError(
        .versionIncompatible,
        "a request of version \(request.protocolVersion), this receiver reads \(versions)",
        effect: .none
      )
    }
    if let expiresAt = request.expiresAt, expiresAt <= now {
      return ResultError(.expired, "expired at \(expiresAt.rfc3339)", effect: .none)
    }
    return constraints.violation(byCount: request.localIdentifiers.count)
  }

  /// Why the assets of one request are not to be taken; nil if nothing speaks against them.
  public func violation(by assets: [ConstrainedAsset]) -> ResultError? {
    constraints.violation(by: assets)
  }

  /// Why one asset of a request is not to be taken.
  public func violation(by asset: ConstrainedAsset) -> ResultError? {
    constraints.violation(by: asset)
  }
}

/// Where one asset of a request stands: what the library and the destination's access say of it.
public enum AssetStanding: Hashable, Sendable {
  /// It can be read.
  case readable
  /// The library has no such asset.
  case missing
  /// It was deleted.
  case deleted
  /// Its bytes are not those that were imported.
  case damaged
  /// The destination is limited to other drop folders.
  case limited
  /// It is not one of the request's.
  case foreign

  /// The refusal that follows, with effect `none`; nil for one that can be read.
  public func refusal(of identifier: LocalIdentifier?) -> ResultError? {
    let reason: (code: ErrorCode, message: String)
    switch self {
    case .readable: return nil
    case .missing: reason = (.assetMissing, "there is no such asset")
    case .deleted: reason = (.assetDeleted, "the asset was deleted")
    case .damaged: reason = (.assetDamaged, "the asset is damaged")
    case .limited:
      reason = (
        .accessLimited, "the destination is limited to other drop folders than this asset's"
      )
    case .foreign: reason = (.accessLimited, "the asset is not part of this handoff")
    }
    return ResultError(
      reason.code,
      reason.message,
      effect: .none,
      localIdentifier: identifier
    )
  }
}
