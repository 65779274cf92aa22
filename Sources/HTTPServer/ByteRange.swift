/// The part of a representation that a request asks for; see RFC 9110, section 14.
package enum ByteRange: Hashable, Sendable {
  /// All of it: no range was asked for, or none that a server must understand.
  case whole
  case part(offset: Int64, count: Int64)
  /// Nothing of what was asked for is there.
  case unsatisfiable

  /// - Parameters:
  ///   - header: the value of `Range`; several ranges are answered with the whole, as a server may.
  ///   - size: the representation's, in bytes.
  package init(_ header: String?, size: Int64) {
    guard let header, let set = Self.set(header) else {
      self = .whole
      return
    }
    let ends = set.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, !set.contains(",") else {
      self = .whole
      return
    }
    switch (Self.number(ends[0]), Self.number(ends[1])) {
    case (let first?, _) where ends[1].isEmpty:
      self = first < size ? .part(offset: first, count: size - first) : .unsatisfiable
    case (let first?, let last?) where first <= last:
      self =
        first < size
        ? .part(offset: first, count: min(last, size - 1) - first + 1) : .unsatisfiable
    case (nil, let count?) where ends[0].isEmpty:
      self =
        count > 0 && size > 0
        ? .part(offset: max(0, size - count), count: min(count, size)) : .unsatisfiable
    default: self = .whole
    }
  }

  private static func set(_ header: String) -> Substring? {
    let parts = header.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    return parts[1].drop { $0 == " " }
  }

  /// A number too large for 64 bits lies past every end.
  private static func number(_ digits: Substring) -> Int64? {
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(digits) ?? .max
  }
}
