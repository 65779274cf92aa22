import Digests
import HandoffProtocol
import LinuxSystem

/// One pass over a file from its beginning, step by step, that digests it and may copy it.
///
/// It blocks, and remembers how far it came between the steps.
final class DigestPass {
  private static let chunkSize = 256 << 10

  private let file: FileDescriptor
  private let target: FileDescriptor?
  private var digest: SHA256?
  /// How many bytes are done.
  private(set) var offset: Int64 = 0

  /// Begins a pass; a target gets the same bytes, at its own position.
  init(_ file: FileDescriptor, copyingTo target: FileDescriptor? = nil) throws {
    self.file = file
    self.target = target
    digest = try SHA256()
  }

  /// Goes on for some bytes; false at the end of the file.
  func step(_ size: Int64) throws -> Bool {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 4096)
    defer { buffer.deallocate() }
    let end = offset + size
    while offset < end {
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { return false }
      let chunk = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      digest?.update(chunk)
      try target?.write(chunk)
      offset += Int64(count)
    }
    return true
  }

  /// The digest of all that was read; nil if it was asked for before.
  func finish() throws -> ContentDigest? {
    guard let whole = digest.take() else { return nil }
    return ContentDigest(try whole.finish())
  }
}
