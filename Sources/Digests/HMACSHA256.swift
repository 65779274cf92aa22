import CGcrypt

/// HMAC-SHA-256 (RFC 2104, FIPS 198-1) under one key, for any number of messages one after the other.
///
/// The key is set up once. It belongs to whoever holds it: it cannot be copied, only moved.
package struct HMACSHA256: ~Copyable {
  /// The size of a code, in bytes.
  package static let byteCount = 32

  private let handle: gcry_mac_hd_t

  package init(key: [UInt8]) throws(DigestError) {
    try Library.prepare()
    var opened: gcry_mac_hd_t?
    let algorithm = CInt(GCRY_MAC_HMAC_SHA256.rawValue)
    try DigestError.check(gcry_mac_open(&opened, algorithm, 0, nil), "gcry_mac_open")
    guard let opened else { throw DigestError(GPG_ERR_NO_ERROR.rawValue, "gcry_mac_open") }
    let code = gcry_mac_setkey(opened, key, key.count)
    guard code == 0 else {
      gcry_mac_close(opened)
      throw DigestError(code, "gcry_mac_setkey")
    }
    handle = opened
  }

  deinit {
    gcry_mac_close(handle)
  }

  /// The 32 bytes of the code of one message.
  package mutating func code(of message: [UInt8]) throws(DigestError) -> [UInt8] {
    try DigestError.check(handoff_gcry_mac_reset(handle), "gcry_mac_reset")
    try DigestError.check(gcry_mac_write(handle, message, message.count), "gcry_mac_write")
    var code = [UInt8](repeating: 0, count: Self.byteCount)
    var count = code.count
    try DigestError.check(gcry_mac_read(handle, &code, &count), "gcry_mac_read")
    return code
  }

  /// The 32 bytes of the code of one message under a key that is used once.
  package static func code(of message: [UInt8], key: [UInt8]) throws(DigestError) -> [UInt8] {
    var keyed = try HMACSHA256(key: key)
    return try keyed.code(of: message)
  }
}
