import CGcrypt

/// SHA-512 (FIPS 180-4) of bytes that come in pieces.
///
/// It belongs to whoever holds it: it cannot be copied, only moved.
package struct SHA512: ~Copyable {
  /// The size of a digest, in bytes.
  package static let byteCount = 64

  private var running: RunningDigest

  /// - Throws: ``DigestError`` where the system allows no SHA-512.
  package init() throws(DigestError) {
    running = try RunningDigest(GCRY_MD_SHA512, byteCount: Self.byteCount)
  }

  /// Takes the next piece.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    running.update(bytes)
  }

  /// The 64 bytes of the digest of all pieces.
  package consuming func finish() throws(DigestError) -> [UInt8] {
    try running.finish()
  }
}
