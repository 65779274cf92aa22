import AssetLibrary
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Reading objects again, and clearing away what is nobody's.
@Suite("Care of the library", .timeLimit(.minutes(2)))
struct CareTests {
  @Test("an import that finds its content renews it, and what is renewed is never cleared away")
  func renewed() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(100_000)
      let digest = try await fixture.importFile(fixture.export("a.mp4", bytes)).digest
      let leftover = try #require(try await fixture.library.leftovers().first)
      #expect(leftover.kind == .object && leftover.digest == digest && leftover.size == 100_000)
      #expect(!(try await fixture.library.clear(leftover, unchangedSince: leftover.changed - 1)))
      // Between the look and the clearing, an export with these bytes comes.
      let again = try await fixture.importFile(fixture.export("b.mp4", bytes))
      #expect(again.method == .alreadyPresent)
      #expect(!(try await fixture.library.clear(leftover, unchangedSince: leftover.changed)))
      #expect(try await fixture.library.verify(digest) == .good)
      let renewed = try #require(try await fixture.library.leftovers().first)
      #expect(try await fixture.library.clear(renewed, unchangedSince: renewed.changed))
      #expect(try await fixture.library.verify(digest) == .missing)
      #expect(
        try await fixture.importFile(fixture.export("c.mp4", bytes)).method != .alreadyPresent
      )
    }
  }

  @Test(
    "a reading tells good, damaged and missing apart",
    arguments: ["good", "flipped", "shorter", "longer", "folder", "missing"]
  )
  func reading(kind: String) async throws {
    try await withLibrary { fixture in
      var bytes = randomBytes(600_000)
      let digest = try await fixture.importFile(fixture.export("a.mp4", bytes)).digest
      let object = fixture.object(digest)
      try #require(chmod(object.nulTerminated, 0o600) == 0)
      bytes[300_000] ^= 1
      switch kind {
      case "flipped": try writeFile(object, bytes)
      case "shorter": try #require(truncate(object.nulTerminated, 300_000) == 0)
      case "longer": try #require(truncate(object.nulTerminated, 600_001) == 0)
      case "folder", "missing": try #require(unlink(object.nulTerminated) == 0)
      default: break
      }
      if kind == "folder" { try Directory.create(object) }
      let reading = try #require(try await fixture.library.reread(digest, at: ReadPace()))
      let expected: Verification =
        kind == "good" ? .good : kind == "missing" ? .missing : .damaged
      #expect(reading.verification == expected)
      #expect(reading.wasMended == (kind == "good"))
      if kind == "good" { #expect(try status(of: object)?.permissions == 0o444) }
    }
  }

  @Test("a pace limits the speed, counts what is read, and ends a reading early")
  func pace() async throws {
    try await withLibrary { fixture in
      let digest = try await fixture.importFile(fixture.export("a.mp4", randomBytes(1_000_000)))
        .digest
      let pieces = Captured<Int>()
      let start = ContinuousClock.now
      let pace = ReadPace(bytesPerSecond: 2_000_000, isBackground: true) { pieces.append($0) }
      #expect(try await fixture.library.reread(digest, at: pace)?.verification == .good)
      #expect(start.duration(to: .now) >= .milliseconds(450))
      #expect(pieces.all.reduce(0, +) == 1_000_000)
      let slow = ReadPace(bytesPerSecond: 1)
      async let reading = fixture.library.reread(digest, at: slow)
      slow.stop()
      #expect(try await reading == nil)
      #expect(try await fixture.library.reread(digest, at: slow) == nil)
    }
  }

  @Test("a library that is not there is waited for, and nothing is made in its place")
  func waiting() async throws {
    try await withTemporaryDirectory { root in
      let path = root.appending("library")
      let library = try await AssetLibrary.open(at: path, logger: .silent, whenMissing: .wait)
      #expect(library.id == nil)
      let digest = try contentDigest([1])
      for attempt: () async throws -> Void in [
        { _ = try await library.reread(digest, at: ReadPace()) },
        { _ = try await library.census() },
        { _ = try await library.leftovers() },
        { _ = try await library.glance(at: digest) },
      ] {
        #expect(await libraryError(attempt)?.code == .unavailable)
      }
      #expect(try status(of: path) == nil)
      _ = try await AssetLibrary.open(at: path, logger: .silent)
      #expect(try await library.reread(digest, at: ReadPace())?.verification == .missing)
    }
  }
}
