/// The clusters of a Matroska file; only the first and the last few are read block by block.
struct ClusterList {
  private struct Sums {
    var packets = IndexSummary()
    var first: Int64?
    var last: Int64 = .min
    /// Between the last two time stamps, for tracks that declare no frame duration.
    var step: Int64 = 0
    /// Frames in the last block.
    var frames = 1
    /// Where the last block with a declared duration ends.
    var end: Int64 = .min

    mutating func add(
      _ place: PacketPlace,
      at time: Int64,
      frames count: Int,
      lasting duration: Int64?
    ) {
      packets.add(place)
      first = min(first ?? time, time)
      if time > last {
        if last != .min { step = time - last }
        last = time
        frames = count
      }
      if let duration { end = max(end, time + duration) }
    }
  }

  private(set) var count = 0
  private var first: Range<Int64>?
  /// The last ones, the newest at the end.
  private var tail: [Range<Int64>] = []
  private var sums: [UInt64: Sums] = [:]

  private static let tailLength = 8

  mutating func add(_ start: Int64, _ end: Int64) {
    count += 1
    if first == nil {
      first = start..<end
    } else {
      tail.append(start..<end)
      if tail.count > Self.tailLength { tail.removeFirst() }
    }
  }

  /// Where a cluster of unknown size ends: at the next element of the level above.
  static func findEnd(_ source: ByteSource, _ cluster: EBMLElement, limit: Int64) throws -> Int64 {
    var offset = cluster.content
    while offset < limit {
      let element = try EBMLElement.read(source, at: offset, limit: limit)
      if element.id > 0xff_ffff, MatroskaFile.ID.isTopLevel(element.id) { return offset }
      offset = element.end(limit: limit)
    }
    return limit
  }

  /// Reads the blocks of the first cluster and of the last few.
  mutating func readEnds(_ source: ByteSource, _ headers: MatroskaHeaders) throws {
    for cluster in (first.map { [$0] } ?? []) + tail { try read(source, cluster, headers) }
  }

  private mutating func read(
    _ source: ByteSource,
    _ cluster: Range<Int64>,
    _ headers: MatroskaHeaders
  ) throws {
    var clusterTime: Int64 = 0
    try EBMLElement.children(source, from: cluster.lowerBound, to: cluster.upperBound) { element in
      switch element.id {
      case 0xe7: clusterTime = Int64(clamping: try element.unsigned(source) ?? 0)
      case 0xa3: try take(source, element, clusterTime, duration: nil)
      case 0xa0: try takeGroup(source, element, clusterTime)
      default: break
      }
    }
  }

  /// A `BlockGroup`: its block, and how long that lasts.
  private mutating func takeGroup(
    _ source: ByteSource,
    _ group: EBMLElement,
    _ clusterTime: Int64
  ) throws {
    var block: EBMLElement?
    var duration: Int64?
    let end = group.end(limit: source.size)
    try EBMLElement.children(source, from: group.content, to: end) { element in
      if element.id == 0xa1 { block = element }
      if element.id == 0x9b { duration = try element.unsigned(source).map { Int64(clamping: $0) } }
    }
    if let block { try take(source, block, clusterTime, duration: duration) }
  }

  private mutating func take(
    _ source: ByteSource,
    _ block: EBMLElement,
    _ clusterTime: Int64,
    duration: Int64?
  ) throws {
    guard let size = block.size, let track = try VariableNumber.read(source, at: block.content),
      let relative = try source.number(at: block.content + Int64(track.length), bytes: 2)
    else { throw EBMLElement.Defect(detail: "an unfinished block at \(block.offset)") }
    let header = Int64(track.length) + 3
    let flags = try source.number(at: block.content + header - 1, bytes: 1) ?? 0
    // A laced block holds several frames; the byte after its header counts them less one.
    let isLaced = flags & 0x06 != 0
    let laced = isLaced ? try source.number(at: block.content + header, bytes: 1) ?? 0 : 0
    guard size >= header else {
      throw EBMLElement.Defect(detail: "an impossible block at \(block.offset)")
    }
    let time = clusterTime &+ Int64(Int16(bitPattern: UInt16(truncatingIfNeeded: relative)))
    let place = PacketPlace(offset: block.content + header, size: size - header)
    sums[track.value, default: Sums()].add(
      place,
      // Time stamps beyond any video are kept in a range whose sums cannot overflow.
      at: max(-(1 << 60), min(time, 1 << 60)),
      frames: Int(laced) + 1,
      lasting: duration.map { min($0, 1 << 60) }
    )
  }

  /// The tracks with the packets of the clusters that were read.
  func tracks(_ headers: MatroskaHeaders) -> [TrackIndex] {
    headers.tracks.compactMap { track in
      guard let sum = sums[track.number] else {
        return TrackIndex(kind: track.kind, codec: track.codec)
      }
      let frame = track.frame.map { $0 * Double(sum.frames) } ?? Double(sum.step) * headers.scale
      let end = max(Double(sum.last) * headers.scale + frame, Double(sum.end) * headers.scale)
      return TrackIndex(
        kind: track.kind,
        codec: track.codec,
        packets: sum.packets,
        start: sum.first.map { Double($0) * headers.scale },
        end: end
      )
    }
  }

  /// From the first packet of a video or audio track to the end of the last one, in seconds.
  func duration(_ headers: MatroskaHeaders) -> Double? {
    let played = tracks(headers).filter { $0.kind != .other }
    guard let start = played.compactMap(\.start).min(), let end = played.compactMap(\.end).max(),
      end > start
    else { return nil }
    return end - start
  }
}
