import Glibc
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// One pass over a file's bytes: digests them, and copies them in the same pass where asked.
///
/// It reads 256 KiB at a time, so memory does not grow with the file. Holes are digested as the zeros
/// that they read as and stay holes in the copy, so that a sparse file takes no more room than before.
struct ReadPass {
  /// Bytes read at once.
  static let chunkSize = 262_144

  let source: FileDescriptor
  /// For errors.
  let path: BytePath
  /// Bytes; what lies beyond is not read.
  let size: Int64
  /// Asked before each read; false ends the pass with `source_changed`.
  var isStillGood: @Sendable () -> Bool = { true }
  /// The file is the library's own, so a failed read is the library's failure.
  var isStored = false
  /// What the writer says of the bytes; a pass over others ends with `checksum_mismatch`.
  var checksum: ContentChecksum?
  /// Told of each piece that was read, in bytes; may block to read slower.
  var onRead: @Sendable (Int) -> Void = { _ in }

  /// Where a copy goes.
  struct Target {
    let file: FileDescriptor
    let path: BytePath
    let faults: FaultPlan
  }

  /// The SHA-256 of the bytes, which `target` then has too.
  func digest(copyingTo target: Target? = nil) throws(LibraryError) -> ContentDigest {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 4096)
    defer { buffer.deallocate() }
    source.adviseSequential()
    var sums = try PassDigest(expecting: checksum, path: path)
    var offset: Int64 = 0
    while offset < size {
      let data = min(try nextData(from: offset), size)
      if data > offset {
        try passHole(buffer, data - offset, &sums)
      }
      let hole = data < size ? min(try nextHole(from: data), size) : size
      try passData(buffer, data..<hole, &sums, target)
      offset = hole
    }
    if let target {
      try storing(target.path) { () throws(SystemError) in
        try target.faults.pass("library.truncate")
        try target.file.setSize(size)
      }
    }
    return try sums.finish()
  }

  private func passHole(
    _ buffer: UnsafeMutableRawBufferPointer,
    _ length: Int64,
    _ sums: inout PassDigest
  ) throws(LibraryError) {
    buffer.initializeMemory(as: UInt8.self, repeating: 0)
    var rest = length
    while rest > 0 {
      try confirm()
      let count = Int(min(rest, Int64(buffer.count)))
      sums.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      rest -= Int64(count)
      onRead(count)
    }
  }

  private func passData(
    _ buffer: UnsafeMutableRawBufferPointer,
    _ range: Range<Int64>,
    _ sums: inout PassDigest,
    _ target: Target?
  ) throws(LibraryError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      try confirm()
      let wanted = Int(min(range.upperBound - offset, Int64(buffer.count)))
      let slice = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
      let count = try fromSource { () throws(SystemError) in
        try source.read(into: slice, at: offset)
      }
      guard count > 0 else {
        throw LibraryError(.sourceChanged, path, detail: "it ends at byte \(offset)")
      }
      let bytes = UnsafeRawBufferPointer(rebasing: slice[..<count])
      sums.update(bytes)
      if let target {
        try storing(target.path) { () throws(SystemError) in
          try target.faults.pass("library.write")
          try target.file.write(bytes, at: offset)
        }
      }
      offset += Int64(count)
      onRead(count)
    }
  }

  private func nextData(from offset: Int64) throws(LibraryError) -> Int64 {
    try fromSource { () throws(SystemError) in try source.nextData(from: offset) ?? size }
  }

  private func nextHole(from offset: Int64) throws(LibraryError) -> Int64 {
    try fromSource { () throws(SystemError) in
      do throws(SystemError) {
        return try source.firstHole(from: offset)
      } catch let error where error.errno == ENXIO {
        // The file was cut meanwhile; the read that follows says so.
        return size
      }
    }
  }

  private func fromSource<Value>(
    _ work: () throws(SystemError) -> Value
  ) throws(LibraryError) -> Value {
    try isStored ? storing(path, work) : reading(path, work)
  }

  private func confirm() throws(LibraryError) {
    guard isStillGood() else {
      throw LibraryError(.sourceChanged, path, detail: "somebody wants to write to it")
    }
  }
}
