import Glibc
import LinuxSystem

/// Writes the bytes of one file into another, piece by piece, on a thread of its own.
actor CopyWriter {
  private let thread = BlockingThread("archive.write")
  private let source: FileDescriptor
  private let target: FileDescriptor
  private let buffer: AlignedBuffer
  private var isDirect: Bool
  /// The copy is on a local file system that writes it as it comes; a network's or a tape's is read only once it
  /// is whole.
  nonisolated let canBeReadMeanwhile: Bool

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// - Throws: `ENOSPC` where the disk has no room for the whole file.
  init(from source: FileDescriptor, to target: FileDescriptor, size: Int64) throws {
    self.source = source
    self.target = target
    buffer = AlignedBuffer(Int(min(4 << 20, size)))
    let isLocal = try !target.fileSystem().isNetwork
    isDirect = isLocal ? try target.setDirect(true) : false
    canBeReadMeanwhile = isDirect
    if isLocal, size > 0 { _ = try target.allocate(size) }
    source.adviseSequential()
  }

  /// Copies some bytes, no more than a piece.
  ///
  /// - Throws: ``SourceEnded`` if the source has fewer.
  func copy(from offset: Int64, count: Int) throws {
    guard try buffer.fill(from: source, at: offset, count) else { throw SourceEnded() }
    if isDirect, count % AlignedBuffer.alignment != 0 {
      // The end of the file.
      _ = try target.setDirect(false)
      isDirect = false
    }
    try write(at: offset)
  }

  private func write(at offset: Int64) throws(SystemError) {
    do {
      try target.write(buffer.content, at: offset)
    } catch  where error.errno == EINVAL && isDirect {
      // A file system that takes the flag and not the writing.
      _ = try target.setDirect(false)
      isDirect = false
      try target.write(buffer.content, at: offset)
    }
  }

  /// Waits until all is on the disk, and no longer in memory.
  func finish(keepingMemory: Bool) throws {
    try target.setPermissions(0o444)
    try target.sync()
    // What is read back shall come from the disk, not from memory; where that cannot be asked for, the digest is
    // still that of what the file system holds.
    if !keepingMemory { target.adviseDone() }
  }

  /// The source has become shorter.
  struct SourceEnded: Error {}
}
