/// Memory for one piece of a file, aligned as direct input and output wants it.
// SAFETY: a step of a CopyPass gives it to one stage at a time for writing, or to several for reading, and
// ends before the next begins.
final class AlignedBuffer: @unchecked Sendable {
  static let alignment = 4096

  let bytes: UnsafeMutableRawBufferPointer
  /// How many of the bytes count.
  var count = 0

  /// Room for so many bytes, and for what alignment adds.
  init(_ size: Int) {
    let whole = (max(size, 1) + Self.alignment - 1) / Self.alignment * Self.alignment
    bytes = .allocate(byteCount: whole, alignment: Self.alignment)
  }

  deinit {
    bytes.deallocate()
  }

  /// The bytes that count.
  var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }
}
