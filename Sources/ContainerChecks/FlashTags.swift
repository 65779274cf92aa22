/// Looks at the last tag of an FLV file: every tag is followed by its own size.
enum FlashTags {
  /// When the tag at an offset is due, in seconds: 24 bits of milliseconds, then the upper 8.
  private static func time(_ source: ByteSource, _ tag: Int64) throws -> Double? {
    guard let low = try source.word(at: tag + 4),
      let high = try source.number(at: tag + 7, bytes: 1)
    else { return nil }
    return Double(UInt32(high) << 24 | low >> 8) / 1_000
  }

  static func report(_ source: ByteSource) throws -> StructureReport {
    guard source.size > 13, let header = try source.word(at: 5), Int64(header) + 4 < source.size
    else {
      return .incomplete(source, "no tag yet")
    }
    let first = Int64(header) + 4
    guard let size = try source.word(at: source.size - 4), size >= 11,
      Int64(size) + 4 <= source.size - first
    else { return .incomplete(source, "the last tag is cut") }
    let last = source.size - 4 - Int64(size)
    guard let tag = try source.word(at: last), [8, 9, 18].contains(tag >> 24 & 0x1f),
      tag & 0xff_ffff == size - 11
    else { return .incomplete(source, "the last tag is cut") }
    return StructureReport(
      Finding(.notProvable, "whole tags; FLV files declare no end"),
      contentEnd: source.size,
      encryption: tag >> 24 & 0x20 != 0 ? "tags are encrypted" : nil,
      duration: try time(source, last)
    )
  }
}
