import AssetLibrary
import HandoffAPI
import HandoffCore
import HandoffProtocol
import Ledger

/// What whoever holds a grant may read at this moment.
///
/// Each reading asks the ledger anew: a grant is worth something only while its handoff is in flight,
/// or nobody knows how it ended: its receiver may be at work still.
struct GrantedReading: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let delivery: DeliveryPreparation

  /// How soon to ask again for what has to be read first, in seconds.
  private static let readingWait = 1

  /// Opens one asset of the grant's handoff.
  ///
  /// - Throws: `ResultError` where it is not to be had, with `auth` for a grant that is none.
  func open(_ grant: Grant, uuid: String) async throws -> ReadableAsset {
    guard var handoff = try await ledger.handoff(with: grant) else {
      throw ResultError(.auth, "the grant is not known", effect: .none)
    }
    guard Self.mayBeAtWork(handoff.status) else {
      throw ResultError(.expired, "the handoff of this grant is not in flight", effect: .none)
    }
    guard let identifier = LocalIdentifier(uuid), handoff.localIdentifiers.contains(identifier)
    else {
      throw ResultError(.accessLimited, "the asset is not part of this handoff", effect: .none)
    }
    handoff.localIdentifiers = [identifier]
    // What the destination takes was checked before it was sent; whether it may have it still is asked.
    let assets = try Self.ready(await delivery.inspect(handoff, constraints: Constraints()))
    guard let asset = assets.first else {
      throw ResultError(.assetMissing, "there is no such asset", effect: .none)
    }
    return try await open(asset)
  }

  private func open(_ asset: Asset) async throws -> ReadableAsset {
    do throws(LibraryError) {
      let file = try await library.open(asset.digest)
      return ReadableAsset(
        file: file,
        size: asset.size,
        digest: asset.digest,
        name: asset.exportName,
        contentType: Self.contentType(asset.facts.container)
      )
    } catch {
      let code: ErrorCode =
        switch error.code {
        case .objectMissing: .assetMissing
        case .objectDamaged: .assetDamaged
        default: .libraryUnavailable
        }
      throw ResultError(code, "the asset cannot be opened now", effect: .none, retryAfter: 5)
    }
  }

  private static func ready(
    _ outcome: DeliveryPreparation.Outcome<Asset>
  ) throws(ResultError) -> [Asset] {
    switch outcome {
    case .ready(let assets): return assets
    case .refuse(let error): throw error
    case .wait:
      throw ResultError(
        .libraryUnavailable,
        "the asset is not to be had now; ask again",
        effect: .none,
        retry: .later,
        retryAfter: readingWait
      )
    }
  }

  private static func mayBeAtWork(_ status: HandoffStatus) -> Bool {
    switch status {
    case .submitted, .accepted, .needsUser, .outcomeUnknown: true
    case .pending, .leased, .succeeded, .cancelled, .refused, .failed, .expired:
      false
    }
  }

  private static func contentType(_ container: String) -> String {
    switch container {
    case "mp4": "video/mp4"
    case "mov": "video/quicktime"
    case "webm": "video/webm"
    case "matroska": "video/matroska"
    case "avi": "video/vnd.avi"
    case "ts", "mpegts": "video/mp2t"
    case "flv": "video/x-flv"
    case "ogg": "video/ogg"
    case "jpg", "jpeg": "image/jpeg"
    case "png": "image/png"
    case "webp": "image/webp"
    default: "application/octet-stream"
    }
  }
}
