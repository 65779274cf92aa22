/// Reads one `traf` box: where its samples lie and how long they last (ISO/IEC 14496-12, 8.8).
struct TrackFragment {
  private(set) var track: UInt32 = 0
  /// The byte after the last sample that was read.
  private(set) var position: Int64
  private let fragmentStart: Int64
  private var base: Int64
  private var duration: UInt32 = 0
  private var size: UInt32 = 0
  private var time: UInt64?

  init(_ fragmentStart: Int64, implicitBase: Int64) {
    self.fragmentStart = fragmentStart
    base = implicitBase
    position = implicitBase
  }

  mutating func takeHeader(_ source: ByteSource, _ box: ISOBox, _ movie: ISOMovie?) throws {
    let flags = try source.word(at: box.content) ?? 0
    track = try source.word(at: box.content + 4) ?? 0
    let defaults = movie?.defaults[track] ?? ISOMovie.Defaults()
    duration = defaults.duration
    size = defaults.size
    var offset = box.content + 8
    if flags & 0x2_0000 != 0 { base = fragmentStart }
    if flags & 0x1 != 0 {
      base = Int64(clamping: try source.number(at: offset, bytes: 8) ?? 0)
      offset += 8
    }
    if flags & 0x2 != 0 { offset += 4 }
    if flags & 0x8 != 0 {
      duration = try source.word(at: offset) ?? 0
      offset += 4
    }
    if flags & 0x10 != 0 { size = try source.word(at: offset) ?? 0 }
    position = base
  }

  mutating func takeStart(_ source: ByteSource, _ box: ISOBox) throws {
    let isLong = try source.number(at: box.content, bytes: 1) == 1
    time = try source.number(at: box.content + 4, bytes: isLong ? 8 : 4)
  }

  /// Gives each sample: where it is, when (nil: right after the one before), how long, in the track's units.
  mutating func takeRun(
    _ source: ByteSource,
    _ box: ISOBox,
    _ body: (PacketPlace, UInt64?, UInt32) -> Void
  ) throws {
    let flags = try source.word(at: box.content) ?? 0
    let count = Int(try source.word(at: box.content + 4) ?? 0)
    var offset = box.content + 8
    if flags & 0x1 != 0 {
      let relative = Int32(bitPattern: try source.word(at: offset) ?? 0)
      position = base &+ Int64(relative)
      offset += 4
    }
    if flags & 0x4 != 0 { offset += 4 }
    let fields = [0x100, 0x200, 0x400, 0x800].filter { flags & $0 != 0 }.count
    guard fields > 0 else { return takeEqual(count, body) }
    guard Int64(count) * Int64(fields) * 4 <= box.end - offset else {
      throw ISOBox.Defect(detail: "the 'trun' box at \(box.offset) is too short for its samples")
    }
    for _ in 0..<count {
      var field = offset
      var length = duration
      var bytes = size
      if flags & 0x100 != 0 {
        length = try source.word(at: field) ?? 0
        field += 4
      }
      if flags & 0x200 != 0 { bytes = try source.word(at: field) ?? 0 }
      give(PacketPlace(offset: position, size: Int64(bytes)), length, body)
      offset += Int64(fields) * 4
    }
  }

  /// A run whose samples are all alike needs no table, so its count is not bounded by the box.
  private mutating func takeEqual(_ count: Int, _ body: (PacketPlace, UInt64?, UInt32) -> Void) {
    for _ in 0..<min(count, 100_000) {
      give(PacketPlace(offset: position, size: Int64(size)), duration, body)
    }
  }

  private mutating func give(
    _ place: PacketPlace,
    _ length: UInt32,
    _ body: (PacketPlace, UInt64?, UInt32) -> Void
  ) {
    body(place, time, length)
    if let start = time { time = start &+ UInt64(length) }
    position = place.end
  }
}
