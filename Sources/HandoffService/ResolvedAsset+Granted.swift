import HandoffCore
import HandoffProtocol
import Paths

extension ResolvedAsset {
  /// What a receiver is told of an asset that it was granted.
  ///
  /// The current one is the same asset as the ledger has it now.
  init(_ granted: GrantedAsset, current: Asset) {
    let path = granted.path
    self.init(
      path: path.lossyText,
      pathBytes: path.base64UnlessText,
      sha256: granted.asset.digest,
      size: granted.asset.size
    )
    let known = granted.asset.constrained
    container = known.container
    videoCodec = known.videoCodec
    width = known.width
    height = known.height
    rotation = known.videoCodec == nil ? nil : granted.asset.facts.rotation
    duration = known.duration
    rendition = granted.asset.given?.name
    supersededBy = current.supersededBy
  }
}
