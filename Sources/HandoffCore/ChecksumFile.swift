import HandoffProtocol
package import Paths

/// A checksum file as sha256sum(1) and md5sum(1) write it, in each of their forms, and as other tools do:
/// a digest alone, a digest and a name (with `*` for binary mode), or `SHA256 (NAME) = digest`.
package enum ChecksumFile {
  /// Why a checksum file gives no digest for an export.
  package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The longest file that is read, in bytes.
  package static let maximumSize = 65_536

  private struct Line {
    let checksum: ContentChecksum
    /// Nil where the line is a digest alone.
    let name: BytePath?
  }

  /// The digest of an export.
  ///
  /// A file with one digest means the export beside it, whatever name it gives, for the writer may
  /// have digested it under another; among several the name decides.
  ///
  /// - Parameters:
  ///   - bytes: the file's content.
  ///   - export: the export's name.
  ///   - algorithm: by the file's name.
  /// - Returns: what the export's bytes must have.
  /// - Throws: ``Problem`` where no line tells.
  package static func checksum(
    in bytes: [UInt8],
    of export: BytePath,
    _ algorithm: ContentChecksum.Algorithm
  ) throws(Problem) -> ContentChecksum {
    let lines = bytes.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    )
    .compactMap { line(Array($0), algorithm) }
    guard let first = lines.first else {
      throw Problem(description: "holds no \(algorithm.displayName) digest")
    }
    if lines.allSatisfy({ $0.checksum == first.checksum }) { return first.checksum }
    let named = Set(lines.filter { $0.name?.lastComponent == export }.map(\.checksum))
    guard named.count < 2 else {
      throw Problem(description: "holds several digests for \(export.displayText)")
    }
    guard let checksum = named.first else {
      throw Problem(description: "holds no digest for \(export.displayText)")
    }
    return checksum
  }

  private static func line(_ text: [UInt8], _ algorithm: ContentChecksum.Algorithm) -> Line? {
    var rest = text[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    // A leading backslash says that the name is escaped: sha256sum does so for backslashes and newlines.
    let isEscaped = rest.first == UInt8(ascii: "\\")
    if isEscaped { rest = rest.dropFirst() }
    let line = tagged(rest, algorithm) ?? plain(rest, algorithm)
    guard isEscaped, let line, let name = line.name else { return line }
    return Line(checksum: line.checksum, name: unescaped(name))
  }

  /// `DIGEST`, `DIGEST  NAME` or `DIGEST *NAME`.
  private static func plain(
    _ text: ArraySlice<UInt8>,
    _ algorithm: ContentChecksum.Algorithm
  ) -> Line? {
    let trimmed = text.trimmed
    let digits = trimmed.prefix { !$0.isBlank }
    guard let checksum = checksum(digits, algorithm) else { return nil }
    var name = trimmed.dropFirst(digits.count).drop { $0.isBlank }
    if name.first == UInt8(ascii: "*") { name = name.dropFirst() }
    return Line(checksum: checksum, name: name.isEmpty ? nil : BytePath(name))
  }

  /// `SHA256 (NAME) = DIGEST`.
  private static func tagged(
    _ text: ArraySlice<UInt8>,
    _ algorithm: ContentChecksum.Algorithm
  ) -> Line? {
    let opening = Array("\(algorithm.rawValue.uppercased()) (".utf8)
    guard text.starts(with: opening),
      let close = text.lastIndex(of: UInt8(ascii: ")"))
    else { return nil }
    let tail = text[(close + 1)...].trimmed
    guard tail.first == UInt8(ascii: "="),
      let checksum = checksum(tail.dropFirst().trimmed, algorithm)
    else { return nil }
    return Line(checksum: checksum, name: BytePath(text[..<close].dropFirst(opening.count)))
  }

  private static func checksum(
    _ digits: ArraySlice<UInt8>,
    _ algorithm: ContentChecksum.Algorithm
  ) -> ContentChecksum? {
    guard digits.count == 2 * algorithm.byteCount,
      let bytes = [UInt8](hexDigits: String(decoding: digits, as: UTF8.self))
    else { return nil }
    return ContentChecksum(algorithm, bytes)
  }

  private static func unescaped(_ name: BytePath) -> BytePath {
    var bytes: [UInt8] = []
    var isAfterBackslash = false
    for byte in name.bytes {
      if isAfterBackslash {
        isAfterBackslash = false
        switch byte {
        case UInt8(ascii: "n"): bytes.append(UInt8(ascii: "\n"))
        case UInt8(ascii: "r"): bytes.append(UInt8(ascii: "\r"))
        default: bytes.append(byte)
        }
      } else if byte == UInt8(ascii: "\\") {
        isAfterBackslash = true
      } else {
        bytes.append(byte)
      }
    }
    return BytePath(bytes)
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension ArraySlice<UInt8> {
  fileprivate var trimmed: ArraySlice<UInt8> {
    var end = endIndex
    while end > startIndex, self[end - 1].isBlank { end -= 1 }
    return self[startIndex..<end].drop { $0.isBlank }
  }
}
