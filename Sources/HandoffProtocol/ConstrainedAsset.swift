/// What constraints look at: the facts of one asset.
///
/// Both sides check with the same rules; a fact that is not known limits nothing.
public struct ConstrainedAsset: Sendable, Hashable, Codable {
  /// Named in the error when it is the one at fault.
  public var localIdentifier: LocalIdentifier
  /// Bytes.
  public var size: Int64
  /// Seconds as played.
  public var duration: Double?
  /// As in asset records.
  public var container: String?
  /// As in asset records.
  public var videoCodec: String?
  /// Pixels as displayed.
  public var width: Int?
  /// Pixels as displayed.
  public var height: Int?

  /// Takes the facts.
  public init(
    localIdentifier: LocalIdentifier,
    size: Int64,
    duration: Double?,
    container: String?,
    videoCodec: String?,
    width: Int?,
    height: Int?
  ) {
    self.localIdentifier = localIdentifier
    self.size = size
    self.duration = duration
    self.container = container
    self.videoCodec = videoCodec
    self.width = width
    self.height = height
  }

  private enum CodingKeys: String, CodingKey {
    case localIdentifier = "local_identifier"
    case size
    case duration = "duration_s"
    case container
    case videoCodec = "video_codec"
    case width
    case height
  }
}

extension Constraints {
  /// The first violation by assets of one request, with effect `none`, or nil if they may all be handed off.
  public func violation(by assets: [ConstrainedAsset]) -> ResultError? {
    violation(byCount: assets.count) ?? assets.lazy.compactMap { violation(by: $0) }.first
  }

  /// The violation by the number of assets in one request, which is known before any of them is.
  public func violation(byCount count: Int) -> ResultError? {
    guard let maxCount, count > maxCount else { return nil }
    return ResultError(
      .countOutOfRange,
      "\(count) assets, at most \(maxCount) are taken",
      effect: .none
    )
  }

  /// The first violation by one asset.
  public func violation(by asset: ConstrainedAsset) -> ResultError? {
    func refuse(_ code: ErrorCode, _ message: String) -> ResultError {
      ResultError(code, message, effect: .none, localIdentifier: asset.localIdentifier)
    }
    if let maxSize, asset.size > maxSize {
      return refuse(.sizeOutOfRange, "\(asset.size) bytes, at most \(maxSize) are taken")
    }
    if let minDuration, let duration = asset.duration, duration < minDuration {
      return refuse(.durationOutOfRange, "\(duration) s, at least \(minDuration) s are taken")
    }
    if let maxDuration, let duration = asset.duration, duration > maxDuration {
      return refuse(.durationOutOfRange, "\(duration) s, at most \(maxDuration) s are taken")
    }
    if let videoCodecs, let codec = asset.videoCodec, !videoCodecs.contains(codec) {
      let taken = videoCodecs.joined(separator: ", ")
      return refuse(.unsupportedMedia, "video codec \(codec), taken are \(taken)")
    }
    if let containers, let container = asset.container, !containers.contains(container) {
      let taken = containers.joined(separator: ", ")
      return refuse(.unsupportedMedia, "container \(container), taken are \(taken)")
    }
    if let maxWidth, let width = asset.width, width > maxWidth {
      return refuse(.unsupportedMedia, "\(width) pixels wide, at most \(maxWidth) are taken")
    }
    if let maxHeight, let height = asset.height, height > maxHeight {
      return refuse(.unsupportedMedia, "\(height) pixels high, at most \(maxHeight) are taken")
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
