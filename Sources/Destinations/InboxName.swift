import Glibc
package import Paths

/// The names under which a delivery may stand in an inbox: the export's own, then with ` 2`, ` 3` and so
/// on before the extension.
///
/// Pure. Names are bytes, and long ones are shortened, so that the manifest's name fits too.
package struct InboxName: Hashable, Sendable {
  private let stem: [UInt8]
  /// With its dot; empty for none.
  private let ending: [UInt8]

  /// Added to the name of a video, for its manifest.
  package static let manifestSuffix = ".handoff-manifest.json"
  /// Of a manifest in a folder of its own delivery.
  package static let manifestInFolder = BytePath("handoff-manifest.json")
  /// How many names are tried.
  package static let count = 10_000

  /// The names for a file.
  package init(_ name: BytePath) {
    let stem = name.stem
    let ending = Array(name.lastComponent.bytes.dropFirst(stem.bytes.count))
    // An extension so long that no stem is left beside it is none.
    let isLong = ending.count > 32
    self.ending = isLong ? [] : ending
    self.stem = isLong ? name.lastComponent.bytes : stem.bytes
  }

  /// The names for a folder that holds several assets: the first one's, without its extension.
  package init(folderFor first: BytePath) {
    stem = first.stem.bytes
    ending = []
  }

  /// The name of a number, from 1.
  package subscript(number: Int) -> BytePath {
    let counter = number == 1 ? [] : Array(" \(number)".utf8)
    let room = Int(NAME_MAX) - Self.manifestSuffix.utf8.count - ending.count - counter.count
    return BytePath(Self.shortened(stem, to: room) + counter + ending)
  }

  /// The name of the manifest beside a video.
  package static func manifest(of name: BytePath) -> BytePath {
    name.addingSuffix(manifestSuffix)
  }

  /// The longest beginning of so many bytes that does not cut a character of UTF-8.
  private static func shortened(_ bytes: [UInt8], to count: Int) -> [UInt8] {
    guard bytes.count > count else { return bytes }
    var end = count
    while end > 0, count - end < 4, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return Array(bytes[..<(end > 0 ? end : count)])
  }
}
