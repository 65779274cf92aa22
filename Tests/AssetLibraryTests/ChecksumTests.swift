import AssetLibrary
import Digests
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Imports that are compared with their writer's checksum", .timeLimit(.minutes(2)))
struct ChecksumTests {
  private static func checksum(
    _ algorithm: ContentChecksum.Algorithm,
    of bytes: [UInt8]
  ) throws -> ContentChecksum? {
    switch algorithm {
    case .sha256: return ContentChecksum(.sha256, try SHA256.digest(of: bytes))
    case .md5:
      var md5 = try MD5()
      bytes.withUnsafeBytes { md5.update($0) }
      return ContentChecksum(.md5, try md5.finish())
    }
  }

  @Test("bytes that agree are imported", arguments: ContentChecksum.Algorithm.allCases)
  func agrees(algorithm: ContentChecksum.Algorithm) async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(700_001)
      let source = try fixture.export("clip.ts", bytes)
      let checksum = try #require(try Self.checksum(algorithm, of: bytes))
      let file = try FileDescriptor.open(source, O_RDONLY)
      let resource = try await fixture.library.importResource(
        from: file,
        path: source,
        expecting: identityOf(source),
        checksum: checksum,
        isStillGood: { true }
      )
      #expect(try resource.digest == contentDigest(bytes))
      #expect(try fixture.objects().count == 1)
    }
  }

  @Test(
    "bytes that differ leave nothing in the library and the source as it was",
    arguments: ContentChecksum.Algorithm.allCases,
    [ImportMode.copy, .take]
  )
  func differs(algorithm: ContentChecksum.Algorithm, mode: ImportMode) async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(700_001)
      let source = try fixture.export("clip.ts", bytes)
      let before = try #require(try status(of: source))
      let checksum = try #require(try Self.checksum(algorithm, of: bytes + [0]))
      let file = try FileDescriptor.open(source, O_RDONLY)
      let error = await libraryError {
        _ = try await fixture.library.importResource(
          from: file,
          path: source,
          expecting: identityOf(source),
          mode: mode,
          checksum: checksum,
          isStillGood: { true }
        )
      }
      #expect(error?.code == .checksumMismatch)
      #expect(error?.mayPass == false)
      #expect(error?.detail?.contains(checksum.hex) == true)
      #expect(try fixture.objects().isEmpty)
      #expect(try fixture.staged().isEmpty)
      let after = try #require(try status(of: source))
      #expect(after.identity.hasSameContent(as: before.identity))
      #expect(after.permissions == before.permissions && after.links == 1)
    }
  }
}
