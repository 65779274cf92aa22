/// The check for a preallocated file whose end was never written.
package enum ZeroTail {
  /// No index or header ends in so many zeros.
  private static let threshold: Int64 = 12
  private static let scanLimit: Int64 = 1 << 20

  /// How many zero bytes the file ends in, up to 1 MiB.
  package static func length(_ source: ByteSource) throws -> Int64 {
    var length: Int64 = 0
    while length < min(source.size, scanLimit) {
      let step = min(length == 0 ? 64 : 4_096, source.size - length)
      let bytes = try source.bytes(at: source.size - length - step, count: Int(step))
      guard let last = bytes.lastIndex(where: { $0 != 0 }) else {
        length += step
        continue
      }
      return length + Int64(bytes.count - 1 - last)
    }
    return length
  }

  /// Judges the file's end by what the structure says lies there.
  ///
  /// `farthest` is the packet of any track that ends nearest to the file's end, if known, and
  /// `tolerance` that of its codec.
  package static func check(
    _ report: StructureReport,
    farthest: PacketPlace?,
    tolerance: ZeroTolerance,
    _ source: ByteSource
  ) throws -> Finding {
    let length = try length(source)
    let start = source.size - length
    guard length >= threshold, start < report.contentEnd else {
      return Finding(.passed, "the file does not end in zeros")
    }
    guard report.endsInMedia, let farthest else {
      return Finding(.incomplete, "the file ends in \(length) zero bytes that were never written")
    }
    let inside = farthest.end - max(start, farthest.offset)
    let isWhole = inside >= farthest.size
    guard inside >= threshold || isWhole else {
      return Finding(.passed, "only unused bytes at the end are zeros")
    }
    if tolerance == .none || (isWhole && tolerance == .padding) {
      return Finding(.incomplete, "the last packet ends in \(inside) zero bytes")
    }
    return Finding(
      .notProvable,
      "the last packet ends in \(inside) zero bytes: silence, padding, or not written"
    )
  }
}
