import HandoffProtocol
import Paths

/// The names under which a copy may be kept, in the order in which they are tried.
enum ArchiveName {
  private static let longest = 255

  /// The export's own name first; then, for other content of that name, one with a short digest, and
  /// one with the whole digest.
  static func candidates(for name: BytePath, _ digest: ContentDigest) -> [BytePath] {
    let marked = [String(digest.hex.prefix(8)), digest.hex].map { mark in
      adding("-" + mark, to: name)
    }
    return isReserved(name) ? marked : [name] + marked
  }

  /// The archive's own names; in any capitals, since some file systems see no difference.
  static func isReserved(_ name: BytePath) -> Bool {
    let text = name.lossyText.lowercased()
    return ["", "sha256sums", "ascmhl"].contains(text) || text.hasPrefix(".handoff-")
  }

  /// A name with a mark before its extension, cut so that it fits a directory entry.
  static func adding(_ mark: String, to name: BytePath) -> BytePath {
    let stem = name.stem.bytes
    let ending = name.bytes.dropFirst(stem.count)
    // An extension that leaves no room for the mark is not one.
    let kept = ending.count + mark.utf8.count < longest ? Array(ending) : []
    let room = longest - mark.utf8.count - kept.count
    return BytePath(characters(of: stem, atMost: room) + Array(mark.utf8) + kept)
  }

  /// As many bytes as there is room for, without half a UTF-8 character at the end.
  static func characters(of bytes: [UInt8], atMost room: Int) -> [UInt8] {
    guard bytes.count > room else { return bytes }
    var end = room
    while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    // Continuation bytes all the way: it is no UTF-8 at all.
    return Array(bytes[..<(end > 0 ? end : room)])
  }
}
