import CGcrypt

/// MD5 (RFC 1321) of bytes that come in pieces: for comparing with what md5sum(1) wrote, and for nothing
/// else, since anybody can make two contents of one digest.
///
/// It belongs to whoever holds it: it cannot be copied, only moved.
package struct MD5: ~Copyable {
  /// The size of a digest, in bytes.
  package static let byteCount = 16

  private var running: RunningDigest

  /// - Throws: ``DigestError`` where the system allows no MD5 (FIPS mode).
  package init() throws(DigestError) {
    running = try RunningDigest(GCRY_MD_MD5, byteCount: Self.byteCount)
  }

  /// Takes the next piece.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    running.update(bytes)
  }

  /// The 16 bytes of the digest of all pieces.
  package consuming func finish() throws(DigestError) -> [UInt8] {
    try running.finish()
  }
}
