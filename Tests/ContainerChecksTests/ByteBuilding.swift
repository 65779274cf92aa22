import ContainerChecks

/// A big-endian number of 4 bytes.
func word(_ value: Int) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}

/// A little-endian number of 4 bytes.
func littleWord(_ value: Int) -> [UInt8] {
  word(value).reversed()
}

/// A box of ISO/IEC 14496-12.
func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
  word(content.count + 8) + Array(type.utf8) + content
}

/// A full box: version and flags first.
func fullBox(_ type: String, flags: Int = 0, _ content: [UInt8] = []) -> [UInt8] {
  box(type, word(flags) + content)
}

/// Bytes that are no zeros.
func data(_ count: Int) -> [UInt8] {
  (0..<count).map { UInt8($0 % 255 + 1) }
}

/// A movie box with one video track.
func movie(samples: Int, format: String = "avc1", fragmented: Bool = false) -> [UInt8] {
  let header = fullBox("tkhd", [0, 0, 0, 0, 0, 0, 0, 0] + word(1))
  let time = fullBox("mdhd", word(0) + word(0) + word(1_000) + word(0))
  let handler = fullBox("hdlr", word(0) + Array("vide".utf8))
  let description = fullBox("stsd", word(1) + box(format, data(70)))
  let sizes = fullBox("stsz", word(0) + word(samples))
  let table = box("minf", box("stbl", description + sizes))
  let track = box("trak", header + box("mdia", time + handler + table))
  let defaults = fullBox("trex", word(1) + word(1) + word(40) + word(0) + word(0))
  return box("moov", track + (fragmented ? box("mvex", defaults) : []))
}

/// A movie fragment with samples of 100 bytes that follow it in a media data box.
func fragment(start: Int, samples: Int) -> [UInt8] {
  func moof(_ offset: Int) -> [UInt8] {
    let header = fullBox("tfhd", flags: 0x2_0000, word(1))
    let time = fullBox("tfdt", word(start))
    let sizes = (0..<samples).flatMap { _ in word(100) }
    let run = fullBox("trun", flags: 0x201, word(samples) + word(offset) + sizes)
    return box("moof", box("traf", header + time + run))
  }
  return moof(moof(0).count + 8) + box("mdat", data(samples * 100))
}

/// The box that ends a fragmented movie.
let fragmentsEnd = box("mfra", fullBox("mfro", word(24)))

/// An EBML element; a size of nil is "unknown".
func element(_ id: [UInt8], _ content: [UInt8], unknownSize: Bool = false) -> [UInt8] {
  let size = [0x01] + [UInt8](repeating: 0, count: 3) + word(content.count)
  return id + (unknownSize ? [0x01] + [UInt8](repeating: 0xff, count: 7) : size) + content
}

/// The header, the headers of one VP9 track, and clusters of one block of 100 bytes each second.
func matroska(
  clusters: Int,
  duration: Double = 0,
  unknownSize: Bool = false,
  encrypted: Bool = false,
  tail: [UInt8] = []
) -> [UInt8] {
  let header = element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Array("webm".utf8)))
  let bits = duration.bitPattern
  let float = [56, 48, 40, 32, 24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
  let info = element([0x15, 0x49, 0xa9, 0x66], element([0x44, 0x89], float))
  let lock = element([0x6d, 0x80], element([0x62, 0x40], element([0x50, 0x35], [])))
  let entry =
    element([0xd7], [1]) + element([0x83], [1]) + element([0x86], Array("V_VP9".utf8))
    + element([0x23, 0xe3, 0x83], word(1_000_000_000)) + (encrypted ? lock : [])
  let tracks = element([0x16, 0x54, 0xae, 0x6b], element([0xae], entry))
  let media = (0..<clusters).flatMap { second in
    element(
      [0x1f, 0x43, 0xb6, 0x75],
      element([0xe7], word(second * 1_000)) + element([0xa3], [0x81, 0, 0, 0x80] + data(100)),
      unknownSize: unknownSize
    )
  }
  let content = info + tracks + media + tail
  return header + element([0x18, 0x53, 0x80, 0x67], content, unknownSize: unknownSize)
}

/// A RIFF chunk.
func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
  Array(type.utf8) + littleWord(content.count) + content + (content.count % 2 == 1 ? [0] : [])
}

/// An AVI file without what the walker does not read.
func avi(media: Int) -> [UInt8] {
  let lists = chunk("LIST", data(40)) + chunk("LIST", data(media)) + chunk("idx1", data(16))
  return chunk("RIFF", Array("AVI ".utf8) + lists)
}

/// Packets of a transport stream.
func transportStream(packets: Int, size: Int = 188, scrambled: Bool = false) -> [UInt8] {
  let stamp = [UInt8](repeating: 7, count: size == 192 ? 4 : 0)
  let header: [UInt8] = [0x47, 0x01, 0x00, scrambled ? 0x90 : 0x10]
  return (0..<packets).flatMap { _ in stamp + header + data(size - 4 - stamp.count) }
}

/// An FLV file with video tags, one every 40 ms.
func flash(tags: Int) -> [UInt8] {
  let header = Array("FLV".utf8) + [1, 1] + word(9) + word(0)
  return header
    + (0..<tags).flatMap { number -> [UInt8] in
      let time = number * 40
      let stamp = [UInt8(time >> 16 & 255), UInt8(time >> 8 & 255), UInt8(time & 255), 0]
      let tag = [9] + word(100).dropFirst() + stamp + [0, 0, 0] + data(100)
      return tag + word(tag.count)
    }
}
