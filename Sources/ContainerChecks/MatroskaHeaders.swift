/// What the `Info` and `Tracks` elements of a Matroska file say.
struct MatroskaHeaders {
  struct Track {
    var number: UInt64 = 0
    var kind: TrackIndex.Kind = .other
    var codec = ""
    /// Seconds a frame, where it is declared.
    var frame: Double?
  }

  /// Seconds a unit of time stamps.
  private(set) var scale = 0.001
  private(set) var tracks: [Track] = []
  private(set) var encryption: String?
  private var rawDuration: Double?

  /// In seconds.
  var duration: Double? {
    guard let rawDuration, rawDuration.isFinite, rawDuration > 0 else { return nil }
    return rawDuration * scale
  }

  mutating func takeInfo(_ source: ByteSource, _ element: EBMLElement) throws {
    let end = element.end(limit: source.size)
    try EBMLElement.children(source, from: element.content, to: end) { child in
      switch child.id {
      case 0x2a_d7b1: scale = Double(try child.unsigned(source) ?? 1_000_000) / 1_000_000_000
      case 0x4489: rawDuration = try child.float(source)
      default: break
      }
    }
  }

  mutating func takeTracks(_ source: ByteSource, _ element: EBMLElement) throws {
    let end = element.end(limit: source.size)
    try EBMLElement.children(source, from: element.content, to: end) { entry in
      guard entry.id == 0xae else { return }
      try takeTrack(source, entry)
    }
  }

  private mutating func takeTrack(_ source: ByteSource, _ entry: EBMLElement) throws {
    var track = Track()
    var isEncrypted = false
    let end = entry.end(limit: source.size)
    try EBMLElement.children(source, from: entry.content, to: end) { child in
      switch child.id {
      case 0xd7: track.number = try child.unsigned(source) ?? 0
      case 0x83: track.kind = Self.kind(try child.unsigned(source) ?? 0)
      case 0x86: track.codec = try child.text(source)
      case 0x23_e383: track.frame = try child.unsigned(source).map { Double($0) / 1_000_000_000 }
      case 0x6d80: isEncrypted = try Self.holdsEncryption(source, child)
      default: break
      }
    }
    tracks.append(track)
    if isEncrypted, encryption == nil { encryption = "track \(track.number) is encrypted" }
  }

  private static func kind(_ type: UInt64) -> TrackIndex.Kind {
    switch type {
    case 1: .video
    case 2: .audio
    default: .other
    }
  }

  /// `ContentEncodings` → `ContentEncoding` → `ContentEncryption`.
  private static func holdsEncryption(_ source: ByteSource, _ list: EBMLElement) throws -> Bool {
    var found = false
    let end = list.end(limit: source.size)
    try EBMLElement.children(source, from: list.content, to: end) { encoding in
      let end = encoding.end(limit: source.size)
      try EBMLElement.children(source, from: encoding.content, to: end) {
        if $0.id == 0x5035 { found = true }
      }
    }
    return found
  }
}
