import CGcrypt

/// MD5 (RFC 1321) of bytes that come in pieces: for comparing with what md5sum(1) wrote, and for nothing
/// else, since anybody can make two contents of one digest.
///
/// It belongs to whoever holds it: it cannot be copied, only moved.
package struct MD5: ~Copyable {
  /// The size of a digest, in bytes.
  package static let byteCount = 16

  private let handle: gcry_md_hd_t

  /// - Throws: ``DigestError`` where the system allows no MD5 (FIPS mode).
  package init() throws(DigestError) {
    try Library.prepare()
    var opened: gcry_md_hd_t?
    try DigestError.check(gcry_md_open(&opened, CInt(GCRY_MD_MD5.rawValue), 0), "gcry_md_open")
    guard let opened else { throw DigestError(GPG_ERR_NO_ERROR.rawValue, "gcry_md_open") }
    handle = opened
  }

  deinit {
    gcry_md_close(handle)
  }

  /// Takes the next piece.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    gcry_md_write(handle, bytes.baseAddress, bytes.count)
  }

  /// The 16 bytes of the digest of all pieces.
  package consuming func finish() throws(DigestError) -> [UInt8] {
    guard let digest = gcry_md_read(handle, CInt(GCRY_MD_MD5.rawValue)) else {
      throw DigestError(GPG_ERR_NO_ERROR.rawValue, "gcry_md_read")
    }
    return [UInt8](UnsafeBufferPointer(start: digest, count: Self.byteCount))
  }
}
