import Glibc
package import Paths
import Synchronization

/// An open descriptor that is closed with its last reference, or earlier by ``close()``.
///
/// All calls are thin: they block as the system call does, so they belong on a ``BlockingThread``.
package final class FileDescriptor: Sendable {
  private let number: Atomic<CInt>

  /// Takes over a descriptor.
  package init(owning number: CInt) {
    self.number = Atomic(number)
  }

  deinit {
    let open = number.load(ordering: .relaxed)
    // Nothing that was written here still waits: writers sync before they let go.
    if open >= 0 { _ = Glibc.close(open) }
  }

  /// The descriptor's number; -1 once closed.
  package var rawValue: CInt { number.load(ordering: .acquiring) }

  /// Closes now, and reports what close(2) does; later calls do nothing.
  package func close() throws(SystemError) {
    let open = number.exchange(-1, ordering: .acquiringAndReleasing)
    guard open >= 0 else { return }
    // Linux frees the descriptor even when close fails with EINTR.
    guard Glibc.close(open) == 0 || errno == EINTR else { throw .last("close") }
  }

  /// Gives the descriptor away; whoever takes it closes it.
  package func release() -> CInt {
    number.exchange(-1, ordering: .acquiringAndReleasing)
  }

  /// Opens a path with `O_CLOEXEC` added.
  package static func open(
    _ path: BytePath,
    _ flags: CInt,
    mode: UInt32 = 0o600,
    in directory: FileDescriptor? = nil
  ) throws(SystemError) -> FileDescriptor {
    let number = try checked("open", path) {
      // The variadic C function does not import; openat with a mode does.
      openat(directory?.rawValue ?? AT_FDCWD, path.nulTerminated, flags | O_CLOEXEC, mode)
    }
    return FileDescriptor(owning: number)
  }

  /// Size, owner, times and the rest; see fstat(2).
  package func status() throws(SystemError) -> FileStatus {
    var status = stat()
    try checked("fstat") { fstat(rawValue, &status) }
    return FileStatus(status)
  }

  /// Reads at most the buffer's size; 0 means end of file.
  package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
    try checked("read") { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
  }

  /// Reads at an offset, in bytes, without moving the file position.
  package func read(
    into buffer: UnsafeMutableRawBufferPointer,
    at offset: Int64
  ) throws(SystemError) -> Int {
    try checked("pread") { pread(rawValue, buffer.baseAddress, buffer.count, off_t(offset)) }
  }

  /// Reads to the end of the file, or throws `EFBIG` past the limit (in bytes).
  package func readAll(limit: Int) throws(SystemError) -> [UInt8] {
    var all: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 1)
    defer { chunk.deallocate() }
    while true {
      let count = try read(into: chunk)
      if count == 0 { return all }
      all += chunk[..<count]
      if all.count > limit { throw SystemError(EFBIG, "read") }
    }
  }

  /// Writes all bytes.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = try checked("write") { Glibc.write(rawValue, rest.baseAddress, rest.count) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Writes all bytes.
  package func write(_ bytes: [UInt8]) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try checked("write") {
        bytes.withUnsafeBytes {
          Glibc.write(rawValue, $0.baseAddress?.advanced(by: written), bytes.count - written)
        }
      }
    }
  }

  /// Waits until the file's data and size are on the disk; see fsync(2).
  package func sync() throws(SystemError) {
    try FaultPlan.current.pass("fsync")
    try checked("fsync") { fsync(rawValue) }
  }
}
