import AssetLibrary
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Faults", .timeLimit(.minutes(5)))
struct FaultTests {
  @Test(
    "whichever step fails, the source is untouched, no object is wrong, and the next import works",
    arguments: [EIO, ENOSPC, EACCES],
    ["copy", "take", "damaged", "present"]
  )
  func walk(errno: CInt, scenario: String) async throws {
    let bytes = randomBytes(600_000)
    let digest = try contentDigest(bytes)
    var passed = false
    for step in 1...60 where !passed {
      try await withTemporaryDirectory(inMemory: true) { root in
        let clean = try await LibraryFixture(root)
        let source = try clean.export("clip.mp4", bytes)
        if scenario == "damaged" || scenario == "present" {
          _ = try await clean.importFile(source)
          if scenario == "damaged" { try writeFile(clean.object(digest), [0]) }
        }
        let before = try #require(try status(of: source))
        // The plan begins with the import: opening again has no point before `library.status`.
        let plan = FaultPlan(environment: "*:\(step):errno=\(errno)")
        let faulty = try await LibraryFixture(root, faults: plan)
        let mode: ImportMode = scenario == "take" ? .take : .copy
        let error = await libraryError { _ = try await faulty.importFile(source, mode: mode) }
        passed = plan.count < step
        #expect(!passed || error == nil, "step \(step)")
        if error != nil {
          let after = try #require(try status(of: source))
          #expect(try readFile(source) == bytes, "step \(step)")
          #expect(after.links == 1 || scenario == "take", "step \(step)")
          if after.links == 1 { #expect(after.permissions == before.permissions, "step \(step)") }
        }
        if scenario != "damaged" {
          for object in try faulty.objects() { #expect(object.name == BytePath(object.digest)) }
        }
        #expect(try faulty.staged().count <= 1, "step \(step)")
        let again = try await LibraryFixture(root)
        #expect(try again.staged().isEmpty, "step \(step)")
        #expect(try await again.importFile(source, mode: mode).digest == digest, "step \(step)")
        #expect(try await again.library.verify(digest) == .good, "step \(step)")
        #expect(try again.staged().isEmpty, "step \(step)")
      }
    }
    #expect(passed, "the walk came to an end")
  }

  @Test("a record is whole or as it was, whichever step fails")
  func recordWalk() async throws {
    var passed = false
    for step in 1...20 where !passed {
      try await withTemporaryDirectory(inMemory: true) { root in
        let clean = try await LibraryFixture(root)
        var asset = try sampleAsset()
        try await clean.library.writeRecord(asset)
        let old = asset
        asset.status = .damaged
        let plan = FaultPlan(environment: "*:\(step):errno=\(EIO)")
        let faulty = try await LibraryFixture(root, faults: plan)
        let error = await libraryError { try await faulty.library.writeRecord(asset) }
        passed = plan.count < step
        let found = try await clean.library.record(of: asset.digest)
        #expect(found == asset || (error != nil && found == old), "step \(step)")
      }
    }
    #expect(passed)
  }

  @Test("a full library keeps nothing of the attempt, says no_space, and works once there is room")
  func noSpace() async throws {
    guard getuid() == 0 else { return print("skipped: mounting needs root") }
    try await withMount("-t tmpfs -o size=4m tmpfs") { mount in
      try await withTemporaryDirectory { exports in
        let source = exports.appending("clip.mp4")
        try writeFile(source, randomBytes(3_000_000))
        let fixture = try await LibraryFixture(mount)
        try writeFile(mount.appending("ballast"), randomBytes(2_000_000))
        let error = await libraryError { _ = try await fixture.importFile(source) }
        #expect(error?.code == .noSpace)
        #expect(error?.mayPass == true)
        #expect(try fixture.staged().isEmpty)
        #expect(try fixture.objects().isEmpty)
        unlink(mount.appending("ballast").nulTerminated)
        let resource = try await fixture.importFile(source)
        #expect(try await fixture.library.verify(resource.digest) == .good)
        let space = try await fixture.library.freeSpace()
        #expect(space.total == 4 << 20)
        #expect(space.available <= space.total - 3_000_000)
      }
    }
  }

  @Test("a library that is mounted read-only says so, and the export is untouched")
  func readOnly() async throws {
    guard getuid() == 0 else { return print("skipped: mounting needs root") }
    try await withMount("-t tmpfs -o size=8m tmpfs") { mount in
      try await withTemporaryDirectory { exports in
        let source = exports.appending("clip.mp4")
        try writeFile(source, randomBytes(100_000))
        let fixture = try await LibraryFixture(mount)
        #expect(await shell("mount -o remount,ro \(mount.lossyText)") == 0)
        let error = await libraryError { _ = try await fixture.importFile(source, mode: .take) }
        #expect(error?.code == .readOnly)
        #expect(error?.mayPass == true)
        #expect(try status(of: source)?.size == 100_000)
        #expect(await shell("mount -o remount,rw \(mount.lossyText)") == 0)
        #expect(try await fixture.importFile(source).size == 100_000)
      }
    }
  }

  @Test("an unmounted library is unavailable, and nothing in it counts as missing")
  func unmounted() async throws {
    guard getuid() == 0 else { return print("skipped: mounting needs root") }
    try await withTemporaryDirectory { exports in
      let source = exports.appending("clip.mp4")
      try writeFile(source, randomBytes(100_000))
      try await withMount("-t tmpfs -o size=8m tmpfs") { mount in
        let fixture = try await LibraryFixture(mount)
        let digest = try await fixture.importFile(source).digest
        let library = fixture.library
        #expect(await library.isAvailable())
        // Nothing is held open, so an ordinary unmount works.
        #expect(await shell("umount \(mount.lossyText)") == 0)
        #expect(!(await library.isAvailable()))
        let grant = GrantRequest(digest: digest, name: "clip.mp4")
        let attempts: [() async throws -> Void] = [
          { _ = try await fixture.importFile(source) },
          { _ = try await library.verify(digest) },
          { _ = try await library.record(of: digest) },
          { _ = try await library.contents() },
          { _ = try await library.freeSpace() },
          { _ = try await library.grant([grant], destination: archive, handoff: "h1") },
        ]
        for attempt in attempts {
          let error = await libraryError(attempt)
          #expect(error?.code == .unavailable)
          #expect(error?.mayPass == true)
        }
        #expect(try Directory.entries(of: mount).isEmpty)
        let reopened = await libraryError {
          _ = try await AssetLibrary.open(
            at: mount.appending("library"),
            logger: .silent,
            whenMissing: .refuse
          )
        }
        #expect(reopened?.code == .unavailable)
      }
    }
  }
}

/// Mounts a file system on a temporary folder for the time of a test.
func withMount(
  _ arguments: String,
  _ body: (BytePath) async throws -> Void
) async throws {
  try await withTemporaryDirectory { mount in
    guard await shell("mount \(arguments) \(mount.lossyText)") == 0 else {
      throw TestSupportError("mount \(arguments)")
    }
    do {
      try await body(mount)
    } catch {
      _ = await shell("umount -l \(mount.lossyText) 2>/dev/null")
      throw error
    }
    _ = await shell("umount -l \(mount.lossyText) 2>/dev/null")
  }
}
