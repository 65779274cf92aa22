/// The containers that an export may have: everything else is refused unread.
package enum ContainerKind: Hashable, Sendable {
  /// ISO base media and QuickTime: `mp4`, `mov`, `3gp`, `m4v`.
  case isoMedia(name: String)
  /// `matroska` or `webm`.
  case matroska(name: String)
  case avi
  /// `packet` is 188, 192 (with time stamps, AVCHD) or 204 bytes (with error correction).
  case transportStream(packet: Int)
  case flash
  case programStream
  case advancedSystems
  case ogg
  case materialExchange

  /// The name in asset records.
  package var name: String {
    switch self {
    case .isoMedia(let name), .matroska(let name): name
    case .avi: "avi"
    case .transportStream: "mpegts"
    case .flash: "flv"
    case .programStream: "mpeg"
    case .advancedSystems: "asf"
    case .ogg: "ogg"
    case .materialExchange: "mxf"
    }
  }

  /// What the first bytes say.
  package enum Recognition: Hashable, Sendable {
    case video(ContainerKind)
    /// Certainly something else, in words.
    case other(String)
    /// Too little is there, or zeros: no exporter has begun to fill it, or not from the front.
    case nothingYet
  }

  /// Recognises a file by its first bytes; its name says nothing.
  package static func recognise(_ source: ByteSource) throws -> Recognition {
    let head = try source.bytes(at: 0, count: 1_024)
    guard head.count >= 16, head.prefix(64).contains(where: { $0 != 0 }) else { return .nothingYet }
    if let packet = TransportStream.packetSize(head) {
      return .video(.transportStream(packet: packet))
    }
    return try bySignature(source, head) ?? .other("no video format that Handoff knows")
  }

  private static func bySignature(
    _ source: ByteSource,
    _ head: [UInt8]
  ) throws -> Recognition? {
    let first = try source.code(at: 0)
    switch first {
    case FourCC(rawValue: 0x1a45_dfa3):
      let isWeb = try MatroskaFile.documentType(source) == "webm"
      return .video(.matroska(name: isWeb ? "webm" : "matroska"))
    case FourCC(rawValue: 0x0000_01ba): return .video(.programStream)
    case FourCC(rawValue: 0x3026_b275): return .video(.advancedSystems)
    case FourCC(rawValue: 0x060e_2b34): return .video(.materialExchange)
    case "OggS": return .video(.ogg)
    case "GIF8": return .other("an animated image (GIF), not a video")
    case "RIFF":
      let form = try source.code(at: 8)
      if form == "AVI " { return .video(.avi) }
      return .other("a RIFF file of the form '\(form?.text ?? "")', not a video")
    default: break
    }
    if head.starts(with: Array("FLV".utf8)) { return .video(.flash) }
    return try isoMedia(source, try source.code(at: 4))
  }

  private static func isoMedia(_ source: ByteSource, _ type: FourCC?) throws -> Recognition? {
    switch type {
    case "ftyp": return brand(try source.code(at: 8))
    // QuickTime before 2002 has no `ftyp`.
    case "moov", "mdat", "wide", "free", "skip", "pnot": return .video(.isoMedia(name: "mov"))
    case "styp", "moof", "sidx": return .video(.isoMedia(name: "mp4"))
    default: return nil
    }
  }

  private static func brand(_ brand: FourCC?) -> Recognition {
    let text = brand?.text ?? ""
    switch text {
    case "qt  ": return .video(.isoMedia(name: "mov"))
    case "heic", "heix", "heim", "mif1", "avif", "crx ", "jp2 ":
      return .other("a still image (\(text))")
    default:
      let isMobile = text.hasPrefix("3gp") || text.hasPrefix("3g2") || text.hasPrefix("3gr")
      return .video(.isoMedia(name: isMobile ? "3gp" : "mp4"))
    }
  }
}
