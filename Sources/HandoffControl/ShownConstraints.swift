package import HandoffProtocol

extension Constraints {
  /// What they limit, for people; empty for nothing.
  package var shown: String {
    var words: [String] = []
    if let containers { words.append(containers.joined(separator: ", ")) }
    if let videoCodecs { words.append("codec " + videoCodecs.joined(separator: ", ")) }
    if let maxSize { words.append("at most \(Self.size(maxSize))") }
    if let minDuration { words.append("from \(Self.time(minDuration))") }
    if let maxDuration { words.append("up to \(Self.time(maxDuration))") }
    switch (maxWidth, maxHeight) {
    case (let width?, let height?): words.append("within \(width)x\(height)")
    case (let width?, nil): words.append("at most \(width) wide")
    case (nil, let height?): words.append("at most \(height) high")
    case (nil, nil): break
    }
    if let maxCount { words.append(maxCount == 1 ? "one asset" : "\(maxCount) assets") }
    return words.joined(separator: "; ")
  }

  /// In the largest unit of a power of 1000 that leaves a whole number, or nearly.
  private static func size(_ bytes: Int64) -> String {
    for (unit, name) in [(Int64(1_000_000_000), "GB"), (1_000_000, "MB"), (1_000, "kB")]
    where bytes >= unit {
      let tenths = bytes / (unit / 10)
      return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
    }
    return "\(bytes) B"
  }

  private static func time(_ seconds: Double) -> String {
    let whole = Int(min(seconds, 1e9))
    if seconds < 1 { return "\(Int(seconds * 1000)) ms" }
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    if hours > 0 { return minutes == 0 ? "\(hours) h" : "\(hours) h \(minutes) min" }
    if minutes > 0 { return whole % 60 == 0 ? "\(minutes) min" : "\(minutes) min \(whole % 60) s" }
    return "\(whole) s"
  }
}
