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
    container = granted.asset.facts.container
    videoCodec = granted.asset.facts.videoCodec
    width = granted.asset.facts.width
    height = granted.asset.facts.height
    rotation = granted.asset.facts.rotation
    duration = granted.asset.facts.duration
    supersededBy = current.supersededBy
  }
}
