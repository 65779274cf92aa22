/// A rate as files say it: `30000/1001`, or `10:11`.
struct Fraction: Sendable, Hashable {
  let numerator: Int
  let denominator: Int

  /// Nil for what is none, and for zero.
  init?(_ text: String?) {
    let parts = (text ?? "").split { $0 == "/" || $0 == ":" }.map { Int($0) }
    guard parts.count == 2, let above = parts[0], let below = parts[1], above > 0, below > 0 else {
      return nil
    }
    (numerator, denominator) = (above, below)
  }

  var value: Double { Double(numerator) / Double(denominator) }

  /// The rates of which a drop-frame timecode can count the frames: 29.97 and 59.94.
  var mayDropFrames: Bool { [30, 60].contains { abs(value - $0 / 1.001) < 0.01 } }

  /// The same rate within one in a hundred.
  func isNear(_ rate: Double) -> Bool { abs(rate - value) < value * 0.01 }
}

/// A timecode as it is written: hours, minutes, seconds and frames; drop-frame with a semicolon.
struct Timecode: Sendable, Hashable, CustomStringConvertible {
  static let zero = Timecode(parts: [0, 0, 0, 0], isDropFrame: false)

  private let parts: [Int]
  let isDropFrame: Bool

  private init(parts: [Int], isDropFrame: Bool) {
    self.parts = parts
    self.isDropFrame = isDropFrame
  }

  /// Nil for what is none.
  init?(_ text: String) {
    let pieces = text.split(omittingEmptySubsequences: false) { ":;.".contains($0) }
    let numbers = pieces.compactMap { $0.count == 2 ? Int($0) : nil }
    guard numbers.count == 4, numbers[0] < 24, numbers[1] < 60, numbers[2] < 60 else { return nil }
    parts = numbers
    isDropFrame = text.contains(";") || text.contains(".")
  }

  /// The same numbers, for rates that drop no frames.
  var withoutDropFrame: Timecode { Timecode(parts: parts, isDropFrame: false) }

  var description: String {
    let two = parts.map { ($0 < 10 ? "0" : "") + "\($0)" }
    return two[..<3].joined(separator: ":") + (isDropFrame ? ";" : ":") + two[3]
  }
}
