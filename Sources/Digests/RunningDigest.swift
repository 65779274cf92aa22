import CGcrypt

/// A digest of bytes that come in pieces, by one of libgcrypt's algorithms; see gcry_md_open.
///
/// It belongs to whoever holds it: it cannot be copied, only moved.
struct RunningDigest: ~Copyable {
  private let handle: gcry_md_hd_t
  private let algorithm: CInt
  private let byteCount: Int

  /// - Throws: ``DigestError`` where the system does not allow the algorithm (FIPS mode).
  init(_ algorithm: gcry_md_algos, byteCount: Int) throws(DigestError) {
    try Library.prepare()
    let number = CInt(algorithm.rawValue)
    var opened: gcry_md_hd_t?
    try DigestError.check(gcry_md_open(&opened, number, 0), "gcry_md_open")
    guard let opened else { throw DigestError(GPG_ERR_NO_ERROR.rawValue, "gcry_md_open") }
    handle = opened
    self.algorithm = number
    self.byteCount = byteCount
  }

  deinit {
    gcry_md_close(handle)
  }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    gcry_md_write(handle, bytes.baseAddress, bytes.count)
  }

  consuming func finish() throws(DigestError) -> [UInt8] {
    guard let digest = gcry_md_read(handle, algorithm) else {
      throw DigestError(GPG_ERR_NO_ERROR.rawValue, "gcry_md_read")
    }
    return [UInt8](UnsafeBufferPointer(start: digest, count: byteCount))
  }
}
