/// What constraints look at: the facts of one asset.
///
/// Both sides check with the same rules.
public struct ConstrainedAsset: Sendable, Hashable {
  /// Named in the error when it is the one at fault.
  public var localIdentifier: LocalIdentifier
  /// Bytes.
  public var size: Int64
  /// Seconds as played.
  public var duration: Double
  /// As in asset records.
  public var container: String
  /// As in asset records.
  public var videoCodec: String
  /// Pixels as displayed.
  public var width: Int
  /// Pixels as displayed.
  public var height: Int

  /// Takes the facts.
  public init(
    localIdentifier: LocalIdentifier,
    size: Int64,
    duration: Double,
    container: String,
    videoCodec: String,
    width: Int,
    height: Int
  ) {
    self.localIdentifier = localIdentifier
    self.size = size
    self.duration = duration
    self.container = container
    self.videoCodec = videoCodec
    self.width = width
    self.height = height
  }
}

extension Constraints {
  /// The first violation by assets of one request, with effect `none`, or nil if they may all be handed off.
  public func violation(by assets: [ConstrainedAsset]) -> ResultError? {
    if let maxCount, assets.count > maxCount {
      return ResultError(
        .countOutOfRange,
        "\(assets.count) assets, at most \(maxCount) are taken",
        effect: .none
      )
    }
    return assets.lazy.compactMap { violation(by: $0) }.first
  }

  private func violation(by asset: ConstrainedAsset) -> ResultError? {
    func refuse(_ code: ErrorCode, _ message: String) -> ResultError {
      ResultError(code, message, effect: .none, localIdentifier: asset.localIdentifier)
    }
    if let maxSize, asset.size > maxSize {
      return refuse(.sizeOutOfRange, "\(asset.size) bytes, at most \(maxSize) are taken")
    }
    if let minDuration, asset.duration < minDuration {
      return refuse(.durationOutOfRange, "\(asset.duration) s, at least \(minDuration) s are taken")
    }
    if let maxDuration, asset.duration > maxDuration {
      return refuse(.durationOutOfRange, "\(asset.duration) s, at most \(maxDuration) s are taken")
    }
    if let videoCodecs, !videoCodecs.contains(asset.videoCodec) {
      let taken = videoCodecs.joined(separator: ", ")
      return refuse(.unsupportedMedia, "video codec \(asset.videoCodec), taken are \(taken)")
    }
    if let containers, !containers.contains(asset.container) {
      let taken = containers.joined(separator: ", ")
      return refuse(.unsupportedMedia, "container \(asset.container), taken are \(taken)")
    }
    if let maxWidth, asset.width > maxWidth {
      return refuse(.unsupportedMedia, "\(asset.width) pixels wide, at most \(maxWidth) are taken")
    }
    if let maxHeight, asset.height > maxHeight {
      return refuse(
        .unsupportedMedia,
        "\(asset.height) pixels high, at most \(maxHeight) are taken"
      )
    }
    return nil
  }

  /// These constraints, narrowed by others: of two limits the tighter one holds.
  public func narrowed(by other: Constraints) -> Constraints {
    func tighter<Value: Comparable>(_ one: Value?, _ two: Value?, _ pick: (Value, Value) -> Value)
      -> Value?
    {
      guard let one, let two else { return one ?? two }
      return pick(one, two)
    }
    func common(_ one: [String]?, _ two: [String]?) -> [String]? {
      guard let one, let two else { return one ?? two }
      return one.filter(two.contains)
    }
    var narrowed = Constraints()
    narrowed.minDuration = tighter(minDuration, other.minDuration, max)
    narrowed.maxDuration = tighter(maxDuration, other.maxDuration, min)
    narrowed.maxSize = tighter(maxSize, other.maxSize, min)
    narrowed.maxCount = tighter(maxCount, other.maxCount, min)
    narrowed.maxWidth = tighter(maxWidth, other.maxWidth, min)
    narrowed.maxHeight = tighter(maxHeight, other.maxHeight, min)
    narrowed.videoCodecs = common(videoCodecs, other.videoCodecs)
    narrowed.containers = common(containers, other.containers)
    return narrowed
  }
}
