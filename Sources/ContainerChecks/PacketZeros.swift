/// How many zero bytes a codec's packets can have.
package enum ZeroTolerance: Hashable, Sendable {
  /// Compressed to the last byte: a run of zeros at the end was never written.
  case none
  /// A packet may be padded with zeros, but is never all zeros.
  case padding
  /// Silence and black are zeros.
  case anything

  /// What is known of a codec by libavcodec's name, an ISO sample entry, or a Matroska identifier.
  package static func of(codec: String) -> ZeroTolerance {
    let tight = [
      "h264", "avc1", "avc3", "hevc", "hvc1", "hev1", "av1", "av01", "vp8", "vp08", "vp9", "vp09",
      "vvc1", "vvi1", "mpeg4", "mp4v", "opus", "vorbis", "V_MPEG4/ISO/AVC", "V_MPEGH/ISO/HEVC",
      "V_AV1", "V_VP8", "V_VP9", "A_OPUS", "A_VORBIS",
    ]
    if tight.contains(codec) { return .none }
    let raw = [
      "rawvideo", "raw ", "v210", "2vuy", "sowt", "twos", "lpcm", "in24", "in32", "fl32", "fl64",
      "V_UNCOMPRESSED",
    ]
    if raw.contains(codec) || codec.hasPrefix("pcm_") || codec.hasPrefix("A_PCM") {
      return .anything
    }
    return .padding
  }
}

/// The check that packets can be read and hold something.
package enum PacketZeros {
  private static let wholeLimit: Int64 = 65_536

  /// Looks at the first, the last and a few packets between.
  package static func check(
    _ index: IndexSummary,
    _ tolerance: ZeroTolerance,
    _ source: ByteSource
  ) throws -> Finding {
    guard let first = index.first, let last = index.last else {
      return Finding(.incomplete, "no video packet")
    }
    var zeros = 0
    for place in [first, last] + index.spread {
      switch try look(place, source) {
      case .missing:
        return Finding(.incomplete, "the video packet at \(place.offset) cannot be read")
      case .zeros where tolerance != .anything:
        return Finding(.incomplete, "the video packet at \(place.offset) is all zeros")
      case .zeros: zeros += 1
      case .data: break
      }
    }
    guard zeros == 0 else {
      return Finding(
        .notProvable,
        "uncompressed video with packets of zeros: black, or not written"
      )
    }
    return Finding(.passed, "the first and the last video packet can be read")
  }

  private enum Content {
    case missing
    case zeros
    case data
  }

  /// Large packets are read at both ends only.
  private static func look(_ place: PacketPlace, _ source: ByteSource) throws -> Content {
    guard place.offset >= 0, place.end <= source.size else { return .missing }
    let count = Int(min(place.size, wholeLimit))
    let head = try source.bytes(at: place.offset, count: min(count, 4_096))
    if head.contains(where: { $0 != 0 }) { return .data }
    let tail = try source.bytes(at: place.end - Int64(count), count: count)
    return tail.contains { $0 != 0 } ? .data : .zeros
  }
}
