/// Sums up the `moof` boxes of a fragmented movie.
struct ISOFragments {
  private struct Sums {
    var packets = IndexSummary()
    var first: UInt64?
    var end: UInt64 = 0
  }

  private var sums: [UInt32: Sums] = [:]
  /// An `mfra` box, which an exporter writes last, is there and whole.
  var hasEnd = false

  var sampleCount: Int { sums.values.reduce(0) { $0 + $1.packets.count } }

  /// Takes one `moof` box.
  mutating func add(_ source: ByteSource, _ fragment: ISOBox, _ movie: ISOMovie?) throws {
    var implicitBase = fragment.offset
    try ISOBox.children(source, from: fragment.content, to: fragment.end) { box in
      guard box.type == "traf" else { return }
      var run = TrackFragment(fragment.offset, implicitBase: implicitBase)
      try ISOBox.children(source, from: box.content, to: box.end) {
        switch $0.type {
        case "tfhd": try run.takeHeader(source, $0, movie)
        case "tfdt": try run.takeStart(source, $0)
        case "trun":
          let track = run.track
          try run.takeRun(source, $0) { place, at, duration in
            add(track, place, at, duration)
          }
        default: break
        }
      }
      implicitBase = run.position
    }
  }

  private mutating func add(_ id: UInt32, _ place: PacketPlace, _ at: UInt64?, _ duration: UInt32) {
    var track = sums[id] ?? Sums()
    track.packets.add(place)
    let start = at ?? track.end
    if track.first == nil { track.first = start }
    track.end = max(track.end, start &+ UInt64(duration))
    sums[id] = track
  }

  /// The tracks that have samples in fragments.
  func tracks(_ movie: ISOMovie) -> [TrackIndex] {
    movie.tracks.compactMap { track in
      guard let sum = sums[track.id] else { return nil }
      let scale = Double(track.timescale == 0 ? 1 : track.timescale)
      return TrackIndex(
        kind: track.kind,
        codec: track.format.text,
        packets: sum.packets,
        start: sum.first.map { Double($0) / scale },
        end: Double(sum.end) / scale
      )
    }
  }

  /// The longest track as its packets have it, in seconds; each counts from its own first packet.
  func duration(_ movie: ISOMovie) -> Double? {
    let played = tracks(movie).filter { $0.kind != .other }.compactMap { track -> Double? in
      guard let start = track.start, let end = track.end, end > start else { return nil }
      return end - start
    }
    return played.max()
  }

  /// The boxes in an `mfra` box fill it, and its last (`mfro`) gives its size.
  static func isWholeEnd(_ source: ByteSource, _ box: ISOBox) throws -> Bool {
    var last: ISOBox?
    try ISOBox.children(source, from: box.content, to: box.end) { last = $0 }
    guard let last, last.type == "mfro" else { return false }
    return try source.word(at: last.content + 4).map { Int64($0) } == box.size
  }
}
