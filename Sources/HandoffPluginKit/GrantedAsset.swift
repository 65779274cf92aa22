import FoundationEssentials
public import HandoffProtocol
public import Paths

/// An asset that may be read until its handoff ends.
public struct GrantedAsset: Sendable {
  /// The asset's name.
  public let localIdentifier: LocalIdentifier
  /// Absolute and read-only; its last part is the export's own file name, in any bytes.
  public let path: BytePath
  /// The digest that a copy must have.
  public let sha256: ContentDigest
  /// Bytes.
  public let size: Int64
  /// Named as in asset records (`mp4`, `mov`, `matroska`, `webm`).
  public let container: String?
  /// Named as in asset records (`h264`, `hevc`, `prores`).
  public let videoCodec: String?
  /// Pixels as displayed.
  public let width: Int?
  /// Pixels as displayed.
  public let height: Int?
  /// Degrees clockwise: 0, 90, 180 or 270.
  public let rotation: Int?
  /// Seconds as played.
  public let duration: Double?
  /// The newer asset, where the export was exported again since: this one may be out of date.
  public let supersededBy: LocalIdentifier?

  init(_ asset: ResolvedAsset, _ identifier: LocalIdentifier) throws {
    localIdentifier = identifier
    if let text = asset.pathBytes {
      guard let bytes = Data(base64Encoded: text) else {
        throw ProtocolError(.malformedRequest, "path_bytes is not base64")
      }
      path = BytePath(bytes)
    } else {
      path = BytePath(asset.path)
    }
    guard path.isAbsolute else {
      throw ProtocolError(.malformedRequest, "the granted path is not absolute")
    }
    sha256 = asset.sha256
    size = asset.size
    container = asset.container
    videoCodec = asset.videoCodec
    width = asset.width
    height = asset.height
    rotation = asset.rotation
    duration = asset.duration
    supersededBy = asset.supersededBy
  }

  /// What constraints look at; see `RequestValidation`.
  public var constrained: ConstrainedAsset {
    ConstrainedAsset(
      localIdentifier: localIdentifier,
      size: size,
      duration: duration,
      container: container,
      videoCodec: videoCodec,
      width: width,
      height: height
    )
  }
}
