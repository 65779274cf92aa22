import HandoffPluginKit
import HandoffProtocol
import Paths

extension GrantedAsset {
  /// What limits look at.
  var constrained: ConstrainedAsset {
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

extension BytePath {
  /// The file's name without its ending, as text.
  var nameWithoutEnding: String {
    let name = Array(bytes.split(separator: UInt8(ascii: "/")).last ?? [])
    let stem = name.lastIndex(of: UInt8(ascii: ".")).map { $0 == 0 ? name : Array(name[..<$0]) }
    return String(decoding: stem ?? name, as: UTF8.self)
  }
}
