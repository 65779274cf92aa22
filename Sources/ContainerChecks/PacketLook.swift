/// A cheap look at a packet's first bytes, which spares decoding it where they are as they should be.
package enum PacketLook {
  /// False where a decoder should be asked; true too for codecs of which nothing is known.
  ///
  /// The codec is given by libavcodec's name.
  package static func isPlausible(
    _ place: PacketPlace,
    codec: String,
    _ source: ByteSource
  ) throws -> Bool {
    let head = try source.bytes(at: place.offset, count: Int(clamping: min(place.size, 16)))
    guard let first = head.first else { return false }
    switch codec {
    // VP9 bitstream specification, 6.2: the frame marker is binary 10.
    case "vp9": return first >> 6 == 2
    // RFC 6386, 9.1: a key frame (bit 0 is 0) has a start code.
    case "vp8": return first & 1 == 0 && head.dropFirst(3).starts(with: [0x9d, 0x01, 0x2a])
    case "mjpeg": return head.starts(with: [0xff, 0xd8])
    case "prores": return head.dropFirst(4).starts(with: Array("icpf".utf8))
    // AV1, 5.3.2: the first bit of an OBU is 0.
    case "av1": return first & 0x80 == 0
    case "h264", "hevc": return try holdsUnits(place, source)
    default: return true
    }
  }

  /// NAL units with their lengths (4 bytes each) or start codes; the first ones have to fit.
  private static func holdsUnits(_ place: PacketPlace, _ source: ByteSource) throws -> Bool {
    var offset = place.offset
    for _ in 0..<4 where offset < place.end {
      guard let length = try source.word(at: offset) else { return false }
      // A start code: the units are not counted.
      if length == 1 || length >> 8 == 1 { return true }
      offset += 4 + Int64(length)
      if offset > place.end || length == 0 { return false }
    }
    return true
  }
}
