import Paths

/// Text as it stands in the XML of ASC MHL files.
enum MHLText {
  /// The escaped form; nil for bytes that are no UTF-8 or that XML 1.0 cannot hold.
  static func escaped(_ bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\r": escaped += "&#13;"
      case "\t", "\n": escaped.unicodeScalars.append(scalar)
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": return nil
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// A text for people, where it cannot be as it is: every byte that XML cannot hold becomes `_`.
  static func lossy(_ path: BytePath) -> String {
    escaped(path.bytes) ?? escaped(path.bytes.map { (0x20...0x7E).contains($0) ? $0 : 0x5F }) ?? "_"
  }
}
