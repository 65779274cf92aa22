import Digests
import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// Copies one asset into a file of an inbox's staging folder.
///
/// Blocks.
struct InboxCopy {
  let asset: InboxAsset
  let progress: DeliveryProgress
  let inbox: BytePath

  /// How the bytes came there.
  enum Method: Hashable, Sendable {
    /// Shared with the library's (`FICLONE`): no byte was copied, and none was read again.
    case reflink
    case copy
  }

  private static let chunkSize = 1 << 20
  private static let permissions: UInt32 = 0o644

  /// Makes the file; it is on the disk when this returns.
  ///
  /// - Throws: ``ResultError`` with effect none.
  func make(_ name: BytePath, in folder: FileDescriptor) throws(ResultError) -> Method {
    let source: FileDescriptor
    do {
      source = try FileDescriptor.open(asset.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      guard try source.status().size == asset.size else { throw damaged("has another size") }
    } catch let error as SystemError {
      throw unreadable(error)
    } catch let error as ResultError {
      throw error
    } catch {
      throw damaged("\(error)")
    }
    let target = try inInbox { () throws(SystemError) in
      try FileDescriptor.open(
        name,
        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
        mode: Self.permissions,
        in: folder
      )
    }
    let method: Method = clone(source, target) ? .reflink : .copy
    if method == .copy { try copy(source, target) }
    try inInbox { () throws(SystemError) in
      // Whatever the broker's umask, the inbox's reader is likely somebody else.
      try target.setPermissions(Self.permissions)
      try target.sync()
    }
    target.adviseDone()
    return method
  }

  private func clone(_ source: FileDescriptor, _ target: FileDescriptor) -> Bool {
    do throws(SystemError) {
      try DurableFile.clone(from: source, to: target)
      return true
    } catch {
      // Another file system, or one without it: then the bytes are copied, and that says what is wrong.
      return false
    }
  }

  private func copy(_ source: FileDescriptor, _ target: FileDescriptor) throws(ResultError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkSize, alignment: 4096)
    defer { buffer.deallocate() }
    source.adviseSequential()
    var sum = try newDigest()
    var offset: Int64 = 0
    while offset < asset.size {
      if let reason = progress.abandonment { throw reason.error }
      let wanted = Int(min(asset.size - offset, Int64(buffer.count)))
      let piece = try read(
        source,
        UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]),
        offset
      )
      sum.update(piece)
      let place = offset
      try inInbox { () throws(SystemError) in
        try FaultPlan.current.pass("inbox.write")
        try target.write(piece, at: place)
      }
      offset += Int64(piece.count)
      progress.touch()
    }
    guard try finished(sum) == asset.digest.bytes else { throw damaged("has other bytes") }
  }

  private func read(
    _ source: FileDescriptor,
    _ buffer: UnsafeMutableRawBufferPointer,
    _ offset: Int64
  ) throws(ResultError) -> UnsafeRawBufferPointer {
    let count: Int
    do throws(SystemError) {
      count = try source.read(into: buffer, at: offset)
    } catch {
      throw unreadable(error)
    }
    guard count > 0 else { throw damaged("ends at byte \(offset)") }
    return UnsafeRawBufferPointer(rebasing: buffer[..<count])
  }

  private func newDigest() throws(ResultError) -> SHA256 {
    do throws(DigestError) {
      return try SHA256()
    } catch {
      throw noDigest(error)
    }
  }

  private func finished(_ sum: consuming SHA256) throws(ResultError) -> [UInt8] {
    do throws(DigestError) {
      return try sum.finish()
    } catch {
      throw noDigest(error)
    }
  }

  // MARK: Failures

  private func inInbox<Value>(
    _ work: () throws(SystemError) -> Value
  ) throws(ResultError) -> Value {
    try InboxFailure.reporting(inbox, work)
  }

  private func noDigest(_ error: DigestError) -> ResultError {
    ResultError(.destinationUnavailable, "\(error)", effect: .none, retry: .later)
  }

  private func unreadable(_ error: SystemError) -> ResultError {
    ResultError(
      .libraryUnavailable,
      "the asset cannot be read: \(error.reason)",
      effect: .none,
      retry: .later,
      localIdentifier: asset.localIdentifier
    )
  }

  private func damaged(_ what: String) -> ResultError {
    ResultError(
      .assetDamaged,
      "the asset's file in the library \(what)",
      effect: .none,
      localIdentifier: asset.localIdentifier
    )
  }
}
