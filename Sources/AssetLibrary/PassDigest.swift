import Digests
import HandoffCore
import HandoffProtocol
import Paths

/// What one pass over a resource's bytes computes: the SHA-256 that names it, and beside it whatever its
/// writer's checksum needs, so that the bytes are read only once.
struct PassDigest: ~Copyable {
  private var sha: SHA256
  private var md5: MD5?
  private let expected: ContentChecksum?
  /// For errors.
  private let path: BytePath

  init(expecting expected: ContentChecksum?, path: BytePath) throws(LibraryError) {
    self.expected = expected
    self.path = path
    let sha = try Self.newSHA256(path)
    let md5 = try expected?.algorithm == .md5 ? Self.newMD5(path) : nil
    self.sha = sha
    self.md5 = md5
  }

  private static func newSHA256(_ path: BytePath) throws(LibraryError) -> SHA256 {
    do throws(DigestError) {
      return try SHA256()
    } catch {
      throw LibraryError(.other, path, detail: error.description)
    }
  }

  private static func newMD5(_ path: BytePath) throws(LibraryError) -> MD5? {
    do throws(DigestError) {
      return try MD5()
    } catch {
      throw LibraryError(.other, path, detail: error.description)
    }
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    sha.update(bytes)
    md5?.update(bytes)
  }

  /// The SHA-256 of all bytes.
  ///
  /// - Throws: ``LibraryError`` with `checksum_mismatch` where they do not have what is expected.
  consuming func finish() throws(LibraryError) -> ContentDigest {
    let path = path
    let expected = expected
    let bytes = try Self.finish(sha, path)
    let other = try Self.finish(md5, path)
    guard let digest = ContentDigest(bytes) else {
      throw LibraryError(.other, path, detail: "a digest of \(bytes.count) bytes")
    }
    if let expected {
      let found = ContentChecksum(expected.algorithm, other ?? bytes)
      guard found == expected else {
        let text = found.map { "\($0)" } ?? "no \(expected.algorithm.displayName)"
        let detail = "its bytes have \(text), and \(expected.hex) was expected"
        throw LibraryError(.checksumMismatch, path, detail: detail)
      }
    }
    return digest
  }

  private static func finish(
    _ sha: consuming SHA256,
    _ path: BytePath
  ) throws(LibraryError) -> [UInt8] {
    do throws(DigestError) {
      return try sha.finish()
    } catch {
      throw LibraryError(.other, path, detail: error.description)
    }
  }

  private static func finish(
    _ md5: consuming MD5?,
    _ path: BytePath
  ) throws(LibraryError) -> [UInt8]? {
    guard let md5 else { return nil }
    do throws(DigestError) {
      return try md5.finish()
    } catch {
      throw LibraryError(.other, path, detail: error.description)
    }
  }
}
