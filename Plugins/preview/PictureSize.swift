/// Width and height of square pixels.
struct PictureSize: Sendable, Hashable {
  var width: Int
  var height: Int

  /// As it is displayed: pixels made square, and turned.
  init(width: Int, height: Int, sampleAspect: Fraction?, rotation: Int) {
    let wide = max(1, Int((Double(width) * (sampleAspect?.value ?? 1)).rounded()))
    let isTurned = rotation == 90 || rotation == 270
    self.init(width: isTurned ? height : wide, height: isTurned ? wide : height)
  }

  init(width: Int, height: Int) {
    self.width = max(1, width)
    self.height = max(1, height)
  }

  private var longer: Int { max(width, height) }

  /// Made smaller, never larger, so that neither side is longer than it may be, lying or standing.
  func fitted(short: Int, isEven: Bool) -> PictureSize {
    let long = Double((short * 16 + 8) / 9)
    let part = min(1, long / Double(longer), Double(short) / Double(min(width, height)))
    return scaled(by: part, isEven: isEven)
  }

  /// Made smaller or larger, so that the longer side is what it should be.
  func scaled(toLonger side: Int) -> PictureSize {
    scaled(by: Double(side) / Double(longer), isEven: true)
  }

  private func scaled(by part: Double, isEven: Bool) -> PictureSize {
    func side(_ length: Int) -> Int {
      let side = Double(length) * part
      return isEven ? max(2, Int((side / 2).rounded()) * 2) : max(1, Int(side.rounded()))
    }
    return PictureSize(width: side(width), height: side(height))
  }
}
