import HandoffProtocol

/// The receiver's own look at what it is given: its invariants are its own, whatever the broker checked.
struct RequestCheck {
  let constraints: Constraints

  /// What can be told of the request alone.
  func check(_ request: HandoffRequest, now: Timestamp) throws(ResultError) {
    if let expiresAt = request.expiresAt, expiresAt <= now {
      throw refusal(.expired, "expired at \(expiresAt.rfc3339)")
    }
    if let most = constraints.maxCount, request.localIdentifiers.count > most {
      throw refusal(
        .countOutOfRange,
        "\(request.localIdentifiers.count) assets, more than \(most)"
      )
    }
  }

  /// What can be told of an asset once it is resolved; a fact that is not known limits nothing.
  func check(_ asset: GrantedAsset) throws(ResultError) {
    let identifier = asset.localIdentifier
    if let most = constraints.maxSize, asset.size > most {
      throw refusal(.sizeOutOfRange, "\(asset.size) bytes, more than \(most)", identifier)
    }
    if let duration = asset.duration {
      if let most = constraints.maxDuration, duration > most {
        throw refusal(.durationOutOfRange, "\(duration) s, more than \(most) s", identifier)
      }
      if let least = constraints.minDuration, duration < least {
        throw refusal(.durationOutOfRange, "\(duration) s, less than \(least) s", identifier)
      }
    }
    try check(asset.videoCodec, among: constraints.videoCodecs, "video codec", identifier)
    try check(asset.container, among: constraints.containers, "container", identifier)
    try check(asset.width, atMost: constraints.maxWidth, "wide", identifier)
    try check(asset.height, atMost: constraints.maxHeight, "high", identifier)
  }

  /// A handoff's id becomes a file name.
  static func isFileName(_ id: String) -> Bool {
    let allowed = id.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."):
        true
      default:
        false
      }
    }
    return allowed && (1...128).contains(id.utf8.count) && id.utf8.first != UInt8(ascii: ".")
  }

  private func check(
    _ name: String?,
    among known: [String]?,
    _ what: String,
    _ identifier: LocalIdentifier
  ) throws(ResultError) {
    guard let name, let known, !known.contains(name) else { return }
    let list = known.joined(separator: ", ")
    throw refusal(.unsupportedMedia, "\(what) \(name); taken are \(list)", identifier)
  }

  private func check(
    _ pixels: Int?,
    atMost most: Int?,
    _ what: String,
    _ identifier: LocalIdentifier
  ) throws(ResultError) {
    guard let pixels, let most, pixels > most else { return }
    throw refusal(.unsupportedMedia, "\(pixels) pixels \(what), more than \(most)", identifier)
  }

  private func refusal(
    _ code: ErrorCode,
    _ message: String,
    _ identifier: LocalIdentifier? = nil
  ) -> ResultError {
    ResultError(code, message, effect: .none, localIdentifier: identifier)
  }
}
