import HandoffProtocol
import Paths

/// One line of a `SHA256SUMS`.
///
/// Names with a backslash, a line feed or a carriage return at their end are escaped, and the line then begins
/// with a backslash. Every other byte stands as it is.
struct ManifestLine: Hashable {
  private static let backslash = UInt8(ascii: "\\")
  private static let digits = 64

  var name: BytePath
  var digest: ContentDigest

  init(name: BytePath, digest: ContentDigest) {
    self.name = name
    self.digest = digest
  }

  /// Reads a line without its end, of either mode of sha256sum(1); nil for what is none.
  init?(_ line: ArraySlice<UInt8>) {
    let isEscaped = line.first == Self.backslash
    let rest = isEscaped ? line.dropFirst() : line
    let mode = rest.dropFirst(Self.digits).prefix(2)
    guard mode == [0x20, 0x20] || mode == [0x20, UInt8(ascii: "*")], rest.count > Self.digits + 2,
      let digest = ContentDigest(
        hex: String(decoding: rest.prefix(Self.digits), as: UTF8.self).lowercased()
      )
    else { return nil }
    let written = rest.dropFirst(Self.digits + 2)
    let name = isEscaped ? Self.unescaped(written) : Array(written)
    self.name = name == Array("./-".utf8) ? "-" : BytePath(name)
    self.digest = digest
  }

  /// The line for a file, without its end.
  static func text(_ name: BytePath, _ digest: ContentDigest) -> [UInt8] {
    let escaped = escaped(name)
    let mark = escaped.count == name.bytes.count ? "" : "\\"
    // A lone dash would mean standard input.
    let prefix = name == "-" ? "./" : ""
    return Array("\(mark)\(digest.hex)  \(prefix)".utf8) + escaped
  }

  /// The digests that a manifest has for a name.
  static func digests(of name: BytePath, in content: [UInt8]) -> Set<ContentDigest> {
    let ending = escaped(name)
    var found: Set<ContentDigest> = []
    for whole in content.split(separator: UInt8(ascii: "\n")) {
      // An editor of another system has ended its lines otherwise.
      let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
      guard line.suffix(ending.count).elementsEqual(ending), let read = Self(line),
        read.name == name
      else { continue }
      found.insert(read.digest)
    }
    return found
  }

  private static func escaped(_ name: BytePath) -> [UInt8] {
    var escaped: [UInt8] = []
    for (index, byte) in name.bytes.enumerated() {
      switch byte {
      case backslash: escaped += Array(#"\\"#.utf8)
      case UInt8(ascii: "\n"): escaped += Array(#"\n"#.utf8)
      case UInt8(ascii: "\r") where index + 1 == name.bytes.count: escaped += Array(#"\r"#.utf8)
      default: escaped.append(byte)
      }
    }
    return escaped
  }

  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var name: [UInt8] = []
    var isAfterMark = false
    for byte in text {
      if isAfterMark {
        let meant: [UInt8: UInt8] = [UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D]
        name.append(meant[byte] ?? byte)
        isAfterMark = false
      } else if byte == backslash {
        isAfterMark = true
      } else {
        name.append(byte)
      }
    }
    return name
  }
}
