import Paths

/// Names of folders and files that come out of a ``Layout``: safe in every shell and file manager.
enum LayoutName {
  /// Bytes of one name.
  private static let longest = 255

  /// Shall stand in no name.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control
  }

  /// Replaces slashes and control characters; bytes that are no UTF-8 stay as they are.
  static func clean(_ bytes: [UInt8]) -> [UInt8] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return bytes.map {
        $0 < 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
      }
    }
    var cleaned = ""
    for scalar in text.unicodeScalars {
      cleaned.unicodeScalars.append(scalar == "/" || isControl(scalar) ? "_" : scalar)
    }
    return Array(cleaned.utf8)
  }

  /// The name of a folder.
  static func folder(_ bytes: [UInt8]) -> BytePath {
    BytePath(safe(ArchiveName.characters(of: bytes, atMost: longest)))
  }

  /// The name of a file; where it is too long, the extension is kept.
  static func file(_ bytes: [UInt8]) -> BytePath {
    ArchiveName.adding("", to: BytePath(safe(bytes)))
  }

  /// Nothing that is hidden, leads elsewhere, or is a name of the archive's own.
  private static func safe(_ bytes: [UInt8]) -> [UInt8] {
    if bytes.isEmpty { return Array("untitled".utf8) }
    if bytes.first == UInt8(ascii: ".") { return [UInt8(ascii: "_")] + bytes.dropFirst() }
    return ArchiveName.isReserved(BytePath(bytes)) ? [UInt8(ascii: "_")] + bytes : bytes
  }
}
