import AssetLibrary
import Glibc
import HandoffLog
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Which library it is, and whose")
struct PresenceTests {
  @Test("another library at the path is as good as none, until the right one is back")
  func swapped() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(1000)
      let export = try fixture.export("a.mp4", bytes)
      let resource = try await fixture.importFile(export)
      let other = fixture.root.appending("other")
      _ = try await AssetLibrary.open(at: other, logger: .silent)
      let aside = fixture.root.appending("aside")
      try DurableFile.rename(fixture.path, to: aside)
      try DurableFile.rename(other, to: fixture.path)
      let later = try fixture.export("b.mp4", randomBytes(1000, seed: 8))
      for attempt: () async throws -> Void in [
        { _ = try await fixture.library.verify(resource.digest) },
        { _ = try await fixture.library.glance(at: resource.digest) },
        { _ = try await fixture.importFile(later) },
        { _ = try await fixture.library.census() },
      ] {
        let error = await libraryError(attempt)
        #expect(error?.code == .unavailable)
        #expect(error?.detail?.contains("another library") == true)
      }
      #expect(try fixture.objects().isEmpty, "nothing is written to the other one")
      try DurableFile.rename(fixture.path, to: other)
      try DurableFile.rename(aside, to: fixture.path)
      #expect(try await fixture.library.verify(resource.digest) == .good)
    }
  }

  @Test("a library that the ledger does not know is waited for as one that is away")
  func unknown() async throws {
    try await withLibrary { fixture in
      let id = String(repeating: "0", count: 32)
      let library = try await AssetLibrary.open(
        at: fixture.path,
        logger: .silent,
        whenMissing: .wait,
        expecting: id
      )
      #expect(library.id == nil)
      #expect(await library.absence()?.detail?.contains("another library") == true)
    }
  }

  @Test("a library is one process's alone, wherever it lies and whenever it comes")
  func taken() async throws {
    try await withTemporaryDirectory { root in
      let path = root.appending("library")
      let late = try await AssetLibrary.open(
        at: root.appending("elsewhere"),
        logger: .silent,
        whenMissing: .wait,
        isExclusive: true
      )
      let id = try await Self.whileOpen(path) { id in
        let error = await libraryError {
          _ = try await AssetLibrary.open(at: path, logger: .silent, isExclusive: true)
        }
        #expect(error?.code == .inUse)
        try DurableFile.rename(path, to: late.path)
        #expect(await late.absence()?.detail == "another broker uses this library")
      }
      // The other one has ended, once its last reference is gone: the library that came meanwhile is this
      // one's.
      let isFree = try await poll { await late.absence() == nil ? true : nil }
      #expect(isFree == true)
      let error = await libraryError {
        _ = try await AssetLibrary.open(
          at: late.path,
          logger: .silent,
          expecting: id,
          isExclusive: true
        )
      }
      #expect(error?.code == .inUse)
    }
  }

  /// Holds a library for the time of some work; returns its id.
  private static func whileOpen(
    _ path: BytePath,
    _ work: nonisolated(nonsending) (String) async throws -> Void
  ) async throws -> String {
    let library = try await AssetLibrary.open(at: path, logger: .silent, isExclusive: true)
    let id = try #require(library.id)
    try await work(id)
    withExtendedLifetime(library) {}
    return id
  }
}
