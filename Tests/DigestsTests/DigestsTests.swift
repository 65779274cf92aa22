import Digests
import Testing

@Suite("Digests", .timeLimit(.minutes(1)))
struct DigestsTests {
  @Test("SHA-256 gives the digests of FIPS 180-4's examples")
  func knownDigests() throws {
    #expect(
      try hex(SHA256.digest(of: Array("abc".utf8)))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    #expect(
      try hex(SHA256.digest(of: []))
        == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
  }

  @Test(
    "A digest does not depend on how the bytes were cut into pieces",
    arguments: [1, 63, 64, 65]
  )
  func pieces(size: Int) throws {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    var digest = try SHA256()
    for start in stride(from: 0, to: bytes.count, by: size) {
      digest.update(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    #expect(try digest.finish() == SHA256.digest(of: bytes))
  }

  @Test("SHA-1 and SHA-512 give the digests of \"abc\" in their standards, in pieces too")
  func knownSHA() throws {
    var short = try SHA1()
    var long = try SHA512()
    for piece in ["a", "bc"] {
      Array(piece.utf8).withUnsafeBytes { bytes in
        short.update(bytes)
        long.update(bytes)
      }
    }
    #expect(hex(try short.finish()) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      hex(try long.finish())
        == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    )
  }

  @Test("MD5 gives the digests of RFC 1321's examples")
  func knownMD5() throws {
    for (text, digest) in [
      ("", "d41d8cd98f00b204e9800998ecf8427e"), ("abc", "900150983cd24fb0d6963f7d28e17f72"),
    ] {
      var md5 = try MD5()
      for byte in text.utf8 { withUnsafeBytes(of: byte) { md5.update($0) } }
      #expect(try hex(md5.finish()) == digest)
    }
  }

  @Test("HMAC-SHA-256 gives the codes of RFC 4231, message after message under one key")
  func knownCodes() throws {
    var keyed = try HMACSHA256(key: [UInt8](repeating: 0x0b, count: 20))
    for _ in 0..<3 {
      #expect(
        try hex(keyed.code(of: Array("Hi There".utf8)))
          == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      )
    }
    #expect(
      try hex(
        HMACSHA256.code(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
      )
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    )
  }

  @Test("Random bytes have the wanted count and differ", arguments: [0, 1, 24, 256, 257, 5000])
  func randomBytes(count: Int) throws {
    let first = try RandomBytes.make(count: count)
    #expect(first.count == count)
    if count >= 24 {
      #expect(try first != RandomBytes.make(count: count))
      #expect(first.suffix(20).contains { $0 != 0 })
    }
  }

  @Test("Secrets compare equal only with the same length and bytes")
  func comparison() {
    #expect(constantTimeEqual([1, 2], [1, 2]))
    #expect(!constantTimeEqual([1, 2], [1, 3]))
    #expect(!constantTimeEqual([1, 2], [1, 2, 3]))
  }

  @Test("Many tasks may be the first to use the library")
  func concurrentFirstUse() async throws {
    let expected = try SHA256.digest(of: [1, 2, 3])
    try await withThrowingTaskGroup(of: [UInt8].self) { group in
      for _ in 0..<64 { group.addTask { try SHA256.digest(of: [1, 2, 3]) } }
      for try await digest in group { #expect(digest == expected) }
    }
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}
