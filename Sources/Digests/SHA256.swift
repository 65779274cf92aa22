import CGcrypt

/// SHA-256 (FIPS 180-4) of bytes that come in pieces.
///
/// It belongs to whoever holds it: it cannot be copied, only moved.
package struct SHA256: ~Copyable {
  /// The size of a digest, in bytes.
  package static let byteCount = 32

  private var running: RunningDigest

  package init() throws(DigestError) {
    running = try RunningDigest(GCRY_MD_SHA256, byteCount: Self.byteCount)
  }

  /// Takes the next piece.
  ///
  /// It blocks for as long as the processor needs: about 0.6 ms a MiB.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    running.update(bytes)
  }

  /// Takes the next piece.
  package mutating func update(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { update($0) }
  }

  /// The 32 bytes of the digest of all pieces.
  package consuming func finish() throws(DigestError) -> [UInt8] {
    try running.finish()
  }

  /// The 32 bytes of the digest of bytes that are all there.
  package static func digest(of bytes: UnsafeRawBufferPointer) throws(DigestError) -> [UInt8] {
    try Library.prepare()
    return [UInt8](unsafeUninitializedCapacity: byteCount) { digest, count in
      gcry_md_hash_buffer(
        CInt(GCRY_MD_SHA256.rawValue),
        digest.baseAddress,
        bytes.baseAddress,
        bytes.count
      )
      count = byteCount
    }
  }

  /// The 32 bytes of the digest of bytes that are all there.
  package static func digest(of bytes: [UInt8]) throws(DigestError) -> [UInt8] {
    // A typed error does not pass through withUnsafeBytes.
    try bytes.withUnsafeBytes { buffer in
      Result { () throws(DigestError) in try digest(of: buffer) }
    }
    .get()
  }
}
