import HandoffCore
import HandoffProtocol
import Paths

extension Asset {
  /// The name of the newest export of this content, which a granted path ends with.
  ///
  /// A rendition has the stem of that name, and its own extension.
  var exportName: BytePath {
    let name = sources.last?.path.lastComponent ?? BytePath(localIdentifier.uuid)
    guard let given else { return name }
    let suffix = given.fileExtension.isEmpty ? "" : "." + given.fileExtension
    return BytePath(name.stem.bytes.prefix(Self.longestName - suffix.utf8.count))
      .addingSuffix(suffix)
  }

  private static var longestName: Int { 255 }

  var constrained: ConstrainedAsset {
    // Of what is no video, only the size and the kind are known.
    let isVideo = given == nil || given?.facts != nil
    return ConstrainedAsset(
      localIdentifier: localIdentifier,
      size: size,
      duration: isVideo ? facts.duration : nil,
      container: facts.container,
      videoCodec: isVideo ? facts.videoCodec : nil,
      width: isVideo ? facts.width : nil,
      height: isVideo ? facts.height : nil
    )
  }
}

extension Asset? {
  /// Where it stands for a receiver, before access is limited.
  ///
  /// Whether an object that was missing is back, the look at it tells.
  var standing: AssetStanding {
    switch self?.status {
    case .present, .unavailable: .readable
    case .deleted: .deleted
    case .damaged: .damaged
    case nil: .missing
    }
  }
}
