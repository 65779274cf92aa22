/// What a `moov` box says of its tracks, without the sample tables themselves.
struct ISOMovie {
  struct Track {
    var id: UInt32 = 0
    /// Units a second.
    var timescale: UInt32 = 0
    var handler: FourCC = "    "
    var format: FourCC = "    "
    var sampleCount = 0

    var kind: TrackIndex.Kind {
      switch handler {
      case "vide": .video
      case "soun": .audio
      default: .other
      }
    }
  }

  /// What fragments take where they do not say it themselves.
  struct Defaults {
    var duration: UInt32 = 0
    var size: UInt32 = 0
  }

  private(set) var tracks: [Track] = []
  private(set) var defaults: [UInt32: Defaults] = [:]
  /// The headers are zlib data in a `cmov` box, which is not read here.
  private(set) var isCompressed = false
  /// The first encrypted track, in words.
  private(set) var encryption: String?
  /// The first reference to another file, in words.
  private(set) var externalMedia: String?

  var sampleCount: Int { tracks.reduce(0) { $0 &+ $1.sampleCount } }

  /// Boxes that hold boxes, each of which they have to be filled by.
  static let containers: Set<FourCC> = [
    "moov", "trak", "mdia", "minf", "dinf", "stbl", "edts", "mvex", "moof", "traf", "mfra",
  ]

  /// - Throws: ``ISOBox/Defect`` where a box is not filled by those inside it.
  init(_ source: ByteSource, _ box: ISOBox) throws {
    try read(source, box, inside: box.type, depth: 0)
  }

  private mutating func read(
    _ source: ByteSource,
    _ box: ISOBox,
    inside parent: FourCC,
    depth: Int
  ) throws {
    guard Self.containers.contains(box.type) else {
      return try take(source, box, inside: parent)
    }
    guard depth < 8 else { throw ISOBox.Defect(detail: "boxes inside boxes without end") }
    if box.type == "trak" { tracks.append(Track()) }
    try ISOBox.children(source, from: box.content, to: box.end) {
      try read(source, $0, inside: box.type, depth: depth + 1)
    }
  }

  private mutating func take(
    _ source: ByteSource,
    _ box: ISOBox,
    inside parent: FourCC
  ) throws {
    switch box.type {
    case "cmov": isCompressed = true
    case "trex": try takeDefaults(source, box)
    case "dref": try takeReferences(source, box)
    default: try takeTrackBox(source, box, inside: parent)
    }
  }

  private mutating func takeTrackBox(
    _ source: ByteSource,
    _ box: ISOBox,
    inside parent: FourCC
  ) throws {
    guard !tracks.isEmpty else { return }
    let track = tracks.count - 1
    let isLong = try source.number(at: box.content, bytes: 1) == 1
    switch (parent, box.type) {
    case ("trak", "tkhd"):
      tracks[track].id = try source.word(at: box.content + (isLong ? 20 : 12)) ?? 0
    case ("mdia", "mdhd"):
      tracks[track].timescale = try source.word(at: box.content + (isLong ? 20 : 12)) ?? 0
    case ("mdia", "hdlr"):
      tracks[track].handler = try source.code(at: box.content + 8) ?? "    "
    case ("stbl", "stsz"), ("stbl", "stz2"):
      tracks[track].sampleCount = Int(try source.word(at: box.content + 8) ?? 0)
    case ("stbl", "stsd"):
      try takeDescriptions(source, box, track)
    default: break
    }
  }

  /// Sample descriptions: the codec, or that the samples are encrypted (ISO/IEC 23001-7, FairPlay).
  private mutating func takeDescriptions(
    _ source: ByteSource,
    _ box: ISOBox,
    _ track: Int
  ) throws {
    let encrypted: Set<FourCC> = ["encv", "enca", "drmi", "drms"]
    var isFirst = true
    let start = box.content + 8
    guard start <= box.end else { throw ISOBox.Defect(detail: "an unfinished 'stsd' box") }
    try ISOBox.children(source, from: start, to: box.end) { entry in
      if isFirst { tracks[track].format = entry.type }
      isFirst = false
      if encrypted.contains(entry.type), encryption == nil {
        encryption = "track \(tracks[track].id) is encrypted ('\(entry.type.text)')"
      }
    }
  }

  private mutating func takeDefaults(_ source: ByteSource, _ box: ISOBox) throws {
    guard let id = try source.word(at: box.content + 4) else { return }
    defaults[id] = Defaults(
      duration: try source.word(at: box.content + 12) ?? 0,
      size: try source.word(at: box.content + 16) ?? 0
    )
  }

  /// Data references: bit 0 of the flags says that the media is in this file.
  private mutating func takeReferences(_ source: ByteSource, _ box: ISOBox) throws {
    try ISOBox.children(source, from: box.content + 8, to: box.end) { entry in
      let flags = try source.word(at: entry.content) ?? 1
      let names = entry.end - entry.content > 5
      if flags & 1 == 0, names, externalMedia == nil {
        externalMedia = "the movie refers to media in another file ('\(entry.type.text)')"
      }
    }
  }
}
