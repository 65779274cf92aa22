/// A path as the kernel has it: any bytes but NUL, compared byte by byte.
///
/// `String` merges names that differ only in Unicode normalisation, and cannot hold a name that is
/// not UTF-8, so nothing that is opened, compared or stored goes through `String`.
/// See path_resolution(7).
public struct BytePath: Hashable, Comparable, Sendable {
  /// The bytes, without a terminating NUL.
  public let bytes: [UInt8]

  /// Makes a path of bytes; everything from a NUL on is cut off, as the kernel would do.
  public init(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes.prefix { $0 != 0 })
  }

  /// Makes a path of the UTF-8 form of a text.
  public init(_ text: String) {
    self.init(text.utf8)
  }

  /// Compares byte by byte.
  public static func < (left: BytePath, right: BytePath) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  /// The path is empty.
  public var isEmpty: Bool { bytes.isEmpty }

  /// The path begins with a slash.
  public var isAbsolute: Bool { bytes.first == Self.slash }

  /// The path is absolute and has no empty part, no `.` and no `..`: text that compares as other text
  /// then leads to another place, symbolic links apart.
  public var isPlain: Bool {
    guard isAbsolute else { return false }
    let parts = bytes.dropFirst().split(separator: Self.slash, omittingEmptySubsequences: false)
    return parts.allSatisfy { part in
      !part.isEmpty && !part.elementsEqual([Self.dot]) && !part.elementsEqual([Self.dot, Self.dot])
    }
  }

  /// The path without empty parts and `.`; `..` stays, since only the file system knows where it leads.
  public var tidied: BytePath {
    let parts = components.filter { $0 != BytePath([Self.dot]) }
    let root = BytePath(isAbsolute ? [Self.slash] : [])
    return parts.reduce(root) { $0.appending($1) }
  }

  /// The bytes with the terminating NUL that system calls want.
  public var nulTerminated: [CChar] {
    bytes.map { CChar(bitPattern: $0) } + [0]
  }

  /// The last part, without slashes; empty for `/` and for an empty path.
  public var lastComponent: BytePath {
    let trimmed = bytes.trimmingTrailing(Self.slash)
    guard let cut = trimmed.lastIndex(of: Self.slash) else { return BytePath(trimmed) }
    return BytePath(trimmed[(cut + 1)...])
  }

  /// All but the last part; `/` for a path directly below the root, empty for a single name.
  public var parent: BytePath {
    let trimmed = bytes.trimmingTrailing(Self.slash)
    guard let cut = trimmed.lastIndex(of: Self.slash) else { return BytePath([]) }
    let kept = Array(trimmed[..<cut]).trimmingTrailing(Self.slash)
    return kept.isEmpty ? BytePath([Self.slash]) : BytePath(kept)
  }

  /// The name parts in order, without empty ones.
  public var components: [BytePath] {
    bytes.split(separator: Self.slash).map { BytePath($0) }
  }

  /// The last part without its extension: `clip` of `a/clip.mp4`, `.x` of `.x`.
  public var stem: BytePath {
    let name = lastComponent.bytes
    guard let dot = name.lastIndex(of: Self.dot), dot > 0 else { return BytePath(name) }
    return BytePath(name[..<dot])
  }

  /// The bytes after the last dot of the last part, in lower case (ASCII only); empty if there is none.
  public var lowercasedExtension: [UInt8] {
    let name = lastComponent.bytes
    guard let dot = name.lastIndex(of: Self.dot), dot > 0 else { return [] }
    return name[(dot + 1)...].map { (65...90).contains($0) ? $0 + 32 : $0 }
  }

  /// This path with one more part, or several.
  ///
  /// - Parameter other: a relative path; an absolute one replaces this path, as it would in a shell.
  /// - Returns: the longer path.
  public func appending(_ other: BytePath) -> BytePath {
    if other.isAbsolute || isEmpty { return other }
    if other.isEmpty { return self }
    let separator = bytes.last == Self.slash ? [] : [Self.slash]
    return BytePath(bytes + separator + other.bytes)
  }

  /// This path with one more part.
  public func appending(_ name: String) -> BytePath {
    appending(BytePath(name))
  }

  /// This path with bytes added to its last part.
  public func addingSuffix(_ suffix: String) -> BytePath {
    BytePath(bytes + Array(suffix.utf8))
  }

  /// The path relative to a folder that holds it, or nil if it is not inside (the folder itself is not).
  public func relative(to folder: BytePath) -> BytePath? {
    var base = folder.bytes.trimmingTrailing(Self.slash)
    guard !base.isEmpty else { return nil }
    if base.last == Self.slash { base.removeLast() }
    guard bytes.starts(with: base), bytes.count > base.count, bytes[base.count] == Self.slash
    else { return nil }
    let rest = bytes[base.count...].drop { $0 == Self.slash }
    return rest.isEmpty ? nil : BytePath(rest)
  }

  /// The folder holds this path, or is it.
  ///
  /// Compares bytes only; resolve symbolic links first.
  public func isInside(_ folder: BytePath) -> Bool {
    relative(to: folder) != nil
      || bytes.trimmingTrailing(Self.slash) == folder.bytes.trimmingTrailing(Self.slash)
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")
}

extension [UInt8] {
  fileprivate func trimmingTrailing(_ byte: UInt8) -> ArraySlice<UInt8> {
    var end = endIndex
    while end > startIndex + 1, self[end - 1] == byte { end -= 1 }
    return self[..<end]
  }
}
