import CGcrypt

/// SHA-1 (RFC 3174) of bytes that come in pieces: for services that know contents by it, and for nothing
/// else, since two contents of one digest can be made.
///
/// It belongs to whoever holds it: it cannot be copied, only moved.
package struct SHA1: ~Copyable {
  /// The size of a digest, in bytes.
  package static let byteCount = 20

  private var running: RunningDigest

  /// - Throws: ``DigestError`` where the system allows no SHA-1.
  package init() throws(DigestError) {
    running = try RunningDigest(GCRY_MD_SHA1, byteCount: Self.byteCount)
  }

  /// Takes the next piece.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    running.update(bytes)
  }

  /// The 20 bytes of the digest of all pieces.
  package consuming func finish() throws(DigestError) -> [UInt8] {
    try running.finish()
  }
}
