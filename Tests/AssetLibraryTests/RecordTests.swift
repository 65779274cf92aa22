import AssetLibrary
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

func sampleAsset(_ bytes: [UInt8] = [1, 2, 3]) throws -> Asset {
  let facts = MediaFacts(
    container: "mp4",
    videoCodec: "h264",
    width: 1920,
    height: 1080,
    rotation: 90,
    duration: 12.5,
    audioTracks: 1
  )
  let identity = FileIdentity(device: 1, inode: 2, size: 3, modified: 4, changed: -5)
  let seen = Timestamp(milliseconds: 1_700_000_000_123)
  let names: [BytePath] = [
    "/exports/clip.mp4", BytePath([0x2F, 0xFF, 0xFE, 0x0A]), "/e\u{301}", "/\u{e9}",
  ]
  var asset = Asset(
    digest: try contentDigest(bytes),
    size: Int64(bytes.count),
    facts: facts,
    importedAt: seen,
    sources: names.map { Sighting(path: $0, folder: "/exports", identity: identity, seenAt: seen) }
  )
  asset.supersedes = LocalIdentifier(try contentDigest([9]))
  return asset
}

@Suite("Records", .timeLimit(.minutes(5)))
struct RecordTests {
  @Test("a record brings an asset back, every byte of its paths included")
  func roundTrip() async throws {
    try await withLibrary { fixture in
      let asset = try sampleAsset()
      #expect(try await fixture.library.record(of: asset.digest) == nil)
      try await fixture.library.writeRecord(asset)
      #expect(try await fixture.library.record(of: asset.digest) == asset)
      #expect(try fixture.staged().isEmpty)
    }
  }

  @Test("the record file is one line of JSON with the members of its format")
  func form() async throws {
    try await withLibrary { fixture in
      let asset = try sampleAsset()
      try await fixture.library.writeRecord(asset)
      let text = String(
        decoding: try readFile(fixture.object(asset.digest).addingSuffix(".json")),
        as: UTF8.self
      )
      #expect(text.hasPrefix(#"{"facts":{"audio_tracks":1,"container":"mp4""#))
      #expect(text.hasSuffix("}\n"))
      #expect(text.contains(#""sha256":"\#(asset.digest.hex)""#))
      #expect(text.contains(#""path":[47,255,254,10]"#))
      #expect(text.contains(#""imported_at":"2023-11-14T22:13:20.123Z""#))
    }
  }

  @Test("a walk over the library tells assets, objects without a record, and records that are none")
  func contents() async throws {
    try await withLibrary { fixture in
      let asset = try sampleAsset()
      try await fixture.library.writeRecord(asset)
      let orphan = try await fixture.importFile(try fixture.export("a.mp4", [5, 6])).digest
      let broken = try await fixture.importFile(try fixture.export("b.mp4", [7, 8])).digest
      try writeFile(fixture.object(broken).addingSuffix(".json"), Array("{}".utf8))
      let contents = try await fixture.library.contents()
      #expect(contents.assets == [asset])
      #expect(contents.orphans == [orphan])
      #expect(contents.problems.map(\.code) == [.malformedRecord])
      #expect(contents.problems.map(\.path) == [fixture.object(broken).addingSuffix(".json")])
    }
  }

  @Test("a record under another asset's name is refused")
  func foreign() async throws {
    try await withLibrary { fixture in
      let asset = try sampleAsset()
      try await fixture.library.writeRecord(asset)
      let other = try await fixture.importFile(try fixture.export("a.mp4", [5, 6])).digest
      let bytes = try readFile(fixture.object(asset.digest).addingSuffix(".json"))
      try writeFile(fixture.object(other).addingSuffix(".json"), bytes)
      let error = await libraryError { _ = try await fixture.library.record(of: other) }
      #expect(error?.code == .malformedRecord)
    }
  }

  @Test("a library of a newer format is refused, and left alone")
  func newerFormat() async throws {
    try await withLibrary { fixture in
      let file = fixture.path.appending("library.json")
      let text = Array(#"{"format":2,"id":"x"}"#.utf8)
      try writeFile(file, text)
      let error = await libraryError {
        _ = try await AssetLibrary.open(at: fixture.path, logger: .silent)
      }
      #expect(error?.code == .unknownFormat)
      #expect(error?.mayPass == false)
      #expect(try readFile(file) == text)
    }
  }

  @Test("a library keeps its id, and only the broker may enter its folders")
  func reopening() async throws {
    try await withLibrary { fixture in
      let again = try await AssetLibrary.open(at: fixture.path, logger: .silent)
      #expect(again.id == fixture.library.id)
      #expect(again.id?.utf8.count == 32)
      for name in ["objects", "staging", "grants", "set-aside"] {
        #expect(try status(of: fixture.path.appending(name))?.permissions == 0o700)
      }
    }
  }

  @Test("opening removes its own forgotten staging files, and nothing else (case 31)")
  func sweep() async throws {
    try await withLibrary { fixture in
      let digits = String(repeating: "a1", count: 16)
      let own = ["import-\(digits)", "record-\(digits)"]
      let foreign = ["import-\(digits)0", "import-x", "notes.txt", ".import-\(digits)"]
      for name in own + foreign { try writeFile(fixture.staging.appending(name), [1]) }
      // A living import of another library object holds its file's lock.
      let held = fixture.staging.appending("import-" + String(repeating: "b2", count: 16))
      try writeFile(held, [1])
      let lock = try FileDescriptor.open(held, O_RDONLY)
      #expect(flock(lock.rawValue, LOCK_EX | LOCK_NB) == 0)
      _ = try await AssetLibrary.open(at: fixture.path, logger: .silent)
      #expect(Set(try fixture.staged()) == Set(foreign.map { BytePath($0) } + [held.lastComponent]))
      try lock.close()
      _ = try await AssetLibrary.open(at: fixture.path, logger: .silent)
      #expect(Set(try fixture.staged()) == Set(foreign.map { BytePath($0) }))
    }
  }
}
