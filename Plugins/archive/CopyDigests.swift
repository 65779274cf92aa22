import Digests
import HandoffProtocol
import LinuxSystem

/// The digests of one file's bytes.
struct CopyDigests: Hashable, Sendable {
  var sha256: ContentDigest
  /// Those of ASC MHL, where they were asked for.
  var mhl: MHLHashes?
}

/// Digests pieces on a thread of its own, so that reading goes on meanwhile.
actor SHA256Stage {
  private let thread = BlockingThread("archive.sha256")
  private var digest: SHA256?

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init() throws {
    digest = try SHA256()
  }

  func take(_ buffer: AlignedBuffer) {
    digest?.update(buffer.content)
  }

  /// The digest of all pieces; once.
  func finish() throws -> ContentDigest? {
    guard let whole = digest.take() else { return nil }
    return ContentDigest(try whole.finish())
  }
}

/// As ``SHA256Stage``, for xxh128 and C4: a thread of its own, because SHA-512 takes longer than all others.
actor MHLStage {
  private let thread = BlockingThread("archive.mhl")
  private var xxh128: XXH128
  private var c4: SHA512?

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init() throws {
    xxh128 = try XXH128()
    c4 = try SHA512()
  }

  func take(_ buffer: AlignedBuffer) {
    xxh128.update(buffer.content)
    c4?.update(buffer.content)
  }

  /// The digests of all pieces; once.
  func finish() throws -> MHLHashes? {
    guard let whole = c4.take() else { return nil }
    return MHLHashes(xxh128: xxh128.finish(), c4: MHLHashes.c4(try whole.finish()))
  }
}
