import Glibc
import HandoffProtocol
import LinuxSystem

/// One pass that reads a file and digests it, or copies it before and reads what was written.
///
/// Reading, writing and each digest have threads of their own and go on at once, each with another piece of
/// the file: a step ends when all of them have. Memory is the same for every size.
struct CopyPass {
  /// One piece of a file, in bytes.
  private static let pieceSize = 4 << 20

  /// What is read and digested.
  let file: FileDescriptor
  let size: Int64
  /// Also those of ASC MHL.
  let wantsMHL: Bool

  private let reader = BlockingThread("archive.read")

  init(_ file: FileDescriptor, size: Int64, wantsMHL: Bool) {
    self.file = file
    self.size = size
    self.wantsMHL = wantsMHL
  }

  private var pieces: Int { Int((size + Int64(Self.pieceSize) - 1) / Int64(Self.pieceSize)) }

  /// Digests the file's bytes, past the page cache where that can be.
  ///
  /// - Parameters:
  ///   - writer: fills the file before it is read.
  ///   - progress: told the part that is done, 0 to 1.
  /// - Returns: nil if the file has another size.
  /// - Throws: `SystemError`; ``CopyWriter/SourceEnded``; `CancellationError`.
  func digests(
    writtenBy writer: CopyWriter? = nil,
    _ progress: @Sendable (Double) async -> Void = { _ in }
  ) async throws -> CopyDigests? {
    let isDirect = try file.setDirect(true)
    let sha256 = try SHA256Stage()
    let mhl = wantsMHL ? try MHLStage() : nil
    let room = Int(min(Int64(Self.pieceSize), size))
    let buffers = [AlignedBuffer(room), AlignedBuffer(room)]
    // Where it must be written from start to end, without a look at it meanwhile, reading begins behind the
    // last piece, else behind the first.
    let lead = writer.map { $0.canBeReadMeanwhile && isDirect ? min(1, pieces) : pieces } ?? 0
    var isShort = false
    for step in 0..<(pieces + lead + 1) {
      try Task.checkCancellation()
      if let writer, step == pieces { try await writer.finish(keepingMemory: isDirect) }
      async let written: Void = write(step, writer)
      async let isRead = read(step - lead, into: buffers)
      let done = step - lead - 1
      if (0..<pieces).contains(done) {
        let buffer = buffers[done % 2]
        async let first: Void = sha256.take(buffer)
        async let second: Void? = mhl?.take(buffer)
        _ = await (first, second)
      }
      try await written
      if try await !isRead { isShort = true }
      if isShort { return nil }
      await progress(Double(step) / Double(pieces + lead + 1))
    }
    guard let digest = try await sha256.finish(), try file.status().size == size else { return nil }
    return CopyDigests(sha256: digest, mhl: try await mhl?.finish())
  }

  private func write(_ piece: Int, _ writer: CopyWriter?) async throws {
    guard piece < pieces, let writer else { return }
    let offset = Int64(piece) * Int64(Self.pieceSize)
    try await writer.copy(from: offset, count: Int(min(Int64(Self.pieceSize), size - offset)))
  }

  /// Reads a piece; false if the file is shorter.
  private func read(_ piece: Int, into buffers: [AlignedBuffer]) async throws -> Bool {
    guard (0..<pieces).contains(piece) else { return true }
    let buffer = buffers[piece % 2]
    let offset = Int64(piece) * Int64(Self.pieceSize)
    let wanted = Int(min(Int64(Self.pieceSize), size - offset))
    let file = file
    return try await reader.run { () throws(SystemError) in
      try buffer.fill(from: file, at: offset, wanted)
    }
  }
}

extension AlignedBuffer {
  /// Reads so many bytes at an offset; false if the file ends before.
  func fill(
    from file: FileDescriptor,
    at offset: Int64,
    _ wanted: Int
  ) throws(SystemError) -> Bool {
    count = 0
    while count < wanted {
      let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[count...])
      do {
        let read = try file.read(into: rest, at: offset + Int64(count))
        if read == 0 { return false }
        count += read
      } catch  where error.errno == EINVAL {
        // A file system that takes the flag and not the reading, or a piece that ends unaligned.
        guard try file.setDirect(false) else { throw error }
        count += try file.read(into: rest, at: offset + Int64(count))
      }
    }
    count = wanted
    return true
  }
}
