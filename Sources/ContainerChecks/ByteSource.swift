/// The bytes of one file, read at offsets through a closure: the checks themselves do no input.
///
/// A window of the last read is kept, so that walking small structures costs few reads. It belongs to
/// one check at a time and is not `Sendable`.
package final class ByteSource {
  /// Reads at most `count` bytes at an offset; fewer only at the end of the file.
  package typealias Fetch = (_ offset: Int64, _ count: Int) throws -> [UInt8]

  /// In bytes.
  package let size: Int64
  private let fetch: Fetch
  private var window: [UInt8] = []
  private var windowStart: Int64 = 0

  private static let windowSize = 8_192

  package init(size: Int64, fetch: @escaping Fetch) {
    self.size = size
    self.fetch = fetch
  }

  /// A source over bytes in memory.
  package convenience init(_ bytes: [UInt8]) {
    self.init(size: Int64(bytes.count)) { offset, count in
      guard offset >= 0, offset < Int64(bytes.count) else { return [] }
      return Array(bytes[Int(offset)..<min(Int(offset) + count, bytes.count)])
    }
  }

  /// At most `count` bytes at an offset; fewer at the end of the file, none outside it.
  package func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let count = Int(min(Int64(count), size - offset))
    if count > Self.windowSize { return try fetch(offset, count) }
    try load(offset, count)
    let start = Int(offset - windowStart)
    guard start < window.count else { return [] }
    return Array(window[start..<min(start + count, window.count)])
  }

  /// An unsigned big-endian number of 1 to 8 bytes; nil where the file ends before it does.
  package func number(at offset: Int64, bytes count: Int) throws -> UInt64? {
    guard offset >= 0, offset <= size - Int64(count) else { return nil }
    try load(offset, count)
    let start = Int(offset - windowStart)
    guard start + count <= window.count else { return nil }
    var value: UInt64 = 0
    for position in start..<(start + count) { value = value << 8 | UInt64(window[position]) }
    return value
  }

  /// An unsigned big-endian number of 4 bytes.
  func word(at offset: Int64) throws -> UInt32? {
    try number(at: offset, bytes: 4).map { UInt32(truncatingIfNeeded: $0) }
  }

  /// An unsigned little-endian number of 4 bytes.
  func littleWord(at offset: Int64) throws -> UInt32? {
    try word(at: offset)?.byteSwapped
  }

  /// Four characters.
  func code(at offset: Int64) throws -> FourCC? {
    try word(at: offset).map { FourCC(rawValue: $0) }
  }

  private func load(_ offset: Int64, _ count: Int) throws {
    if offset >= windowStart, offset + Int64(count) <= windowStart + Int64(window.count) { return }
    window = try fetch(offset, Int(min(Int64(Self.windowSize), size - offset)))
    windowStart = offset
  }
}
