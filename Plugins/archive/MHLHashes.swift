import CXXHash
import Digests
import Glibc
import LinuxSystem

/// The two digests that an ASC MHL generation has of a file, as they are written there.
struct MHLHashes: Hashable, Sendable {
  /// XXH3 with 128 bits, in hexadecimal.
  var xxh128: String
  /// A C4 ID (SMPTE ST 2114).
  var c4: String

  private static let alphabet = Array(
    "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8
  )
  /// Characters after the leading `c4`.
  private static let digits = 88

  /// A SHA-512 as C4 ID: the number in base 58 behind `c4`, with leading zeros (`1`).
  static func c4(_ sha512: [UInt8]) -> String {
    var number = sha512
    var reversed: [UInt8] = []
    for _ in 0..<digits {
      var remainder = 0
      for index in number.indices {
        let value = remainder << 8 | Int(number[index])
        number[index] = UInt8(value / 58)
        remainder = value % 58
      }
      reversed.append(alphabet[remainder])
    }
    return "c4" + String(decoding: reversed.reversed(), as: UTF8.self)
  }

  /// The C4 ID of bytes that are all there.
  static func c4(of bytes: [UInt8]) throws -> String {
    var digest = try SHA512()
    bytes.withUnsafeBytes { digest.update($0) }
    return c4(try digest.finish())
  }
}

/// XXH3 with 128 bits of bytes that come in pieces; see xxhash.h.
struct XXH128: ~Copyable {
  private let state: OpaquePointer

  init() throws(SystemError) {
    guard let state = XXH3_createState() else { throw SystemError(ENOMEM, "XXH3_createState") }
    self.state = state
    _ = XXH3_128bits_reset(state)
  }

  deinit {
    _ = XXH3_freeState(state)
  }

  /// Takes the next piece.
  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    _ = XXH3_128bits_update(state, bytes.baseAddress, bytes.count)
  }

  /// The digest of all pieces so far, in hexadecimal.
  func finish() -> String {
    var canonical = XXH128_canonical_t()
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state))
    return withUnsafeBytes(of: canonical) { bytes in
      bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
  }
}
