import AssetLibrary
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Sources", .timeLimit(.minutes(5)))
struct SourceTests {
  @Test(
    "a take moves no byte: the object is the source's inode, read-only, and the source then goes"
  )
  func takes() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(100_000))
      let identity = try identityOf(source)
      let resource = try await fixture.importFile(source, mode: .take)
      #expect(resource.method == .taken)
      let object = try #require(try status(of: fixture.object(resource.digest)))
      #expect(object.inode == identity.inode)
      #expect(object.permissions == 0o444)
      #expect(object.owner == geteuid())
      // Until the ledger has it, the source keeps its name.
      #expect(try status(of: source)?.inode == identity.inode)
      #expect(
        try await fixture.library.removeSource(source, identity: identity, of: resource.digest)
      )
      #expect(try status(of: source) == nil)
      #expect(try status(of: fixture.object(resource.digest))?.links == 1)
      #expect(try await fixture.library.verify(resource.digest) == .good)
      #expect(try Directory.entries(of: fixture.exports).isEmpty)
    }
  }

  @Test("an export of another user is made the broker's own when it is taken")
  func takesForeign() async throws {
    guard getuid() == 0 else { return print("skipped: giving files away needs root") }
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(1000))
      #expect(chown(source.nulTerminated, 12_345, 12_345) == 0)
      let resource = try await fixture.importFile(source, mode: .take)
      #expect(resource.method == .taken)
      #expect(try status(of: fixture.object(resource.digest))?.owner == 0)
    }
  }

  @Test("an export with a second name is never taken: its other name could still be written to")
  func takesNoLink() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(1000))
      #expect(link(source.nulTerminated, fixture.exports.appending("b").nulTerminated) == 0)
      let resource = try await fixture.importFile(source, mode: .take)
      #expect(resource.method == .copied)
      #expect(try status(of: source)?.permissions == 0o644)
    }
  }

  @Test("an export on another file system is copied")
  func takesNotAcross() async throws {
    guard getuid() == 0 else { return print("skipped: mounting needs root") }
    try await withLibrary { fixture in
      try await withMount("-t tmpfs -o size=8m tmpfs") { mount in
        let source = mount.appending("clip.mp4")
        try writeFile(source, randomBytes(1000))
        let resource = try await fixture.importFile(source, mode: .take)
        #expect(resource.method == .copied)
        #expect(try status(of: source)?.permissions == 0o644)
      }
    }
  }

  @Test(
    "a taken source that is imported again, as after a crash, makes the object independent of it"
  )
  func takesAgain() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(100_000))
      let digest = try await fixture.importFile(source, mode: .take).digest
      let again = try await fixture.importFile(source, mode: .take)
      #expect(again == ImportedResource(digest: digest, size: 100_000, method: .copied))
      #expect(try status(of: fixture.object(digest))?.inode != status(of: source)?.inode)
      #expect(try status(of: source)?.links == 1)
      #expect(try fixture.staged().isEmpty)
    }
  }

  @Test(
    "a taken source that another export has replaced is not removed, and the object stands alone"
  )
  func takenAndReplaced() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(100_000))
      let identity = try identityOf(source)
      let digest = try await fixture.importFile(source, mode: .take).digest
      let kept = fixture.exports.appending("renamed.mp4")
      #expect(rename(source.nulTerminated, kept.nulTerminated) == 0)
      try writeFile(source, [1, 2, 3])
      #expect(
        try await !fixture.library.removeSource(source, identity: identity, of: digest)
      )
      #expect(try readFile(source) == [1, 2, 3])
      #expect(try status(of: kept)?.links == 1)
      #expect(try await fixture.library.verify(digest) == .good)
    }
  }

  @Test("only the inode that was imported is removed (case 72)")
  func removes() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(1000))
      let identity = try identityOf(source)
      let digest = try await fixture.importFile(source).digest
      unlink(source.nulTerminated)
      #expect(try await !fixture.library.removeSource(source, identity: identity, of: digest))
      try writeFile(source, randomBytes(1000))
      #expect(try await !fixture.library.removeSource(source, identity: identity, of: digest))
      #expect(symlink("/etc/passwd", fixture.exports.appending("l").nulTerminated) == 0)
      let link = fixture.exports.appending("l")
      #expect(try await !fixture.library.removeSource(link, identity: identity, of: digest))
      let current = try identityOf(source)
      #expect(try await fixture.library.removeSource(source, identity: current, of: digest))
      #expect(try status(of: source) == nil)
    }
  }

  @Test("a removal that was interrupted half way is finished by the next")
  func finishesRemoval() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(1000))
      let identity = try identityOf(source)
      let digest = try await fixture.importFile(source).digest
      let device = String(identity.device, radix: 16)
      let aside = fixture.exports.appending(".handoff-remove-\(device)-\(identity.inode)")
      #expect(rename(source.nulTerminated, aside.nulTerminated) == 0)
      try writeFile(source, [4, 5])
      #expect(try await fixture.library.removeSource(source, identity: identity, of: digest))
      #expect(try status(of: aside) == nil)
      #expect(try readFile(source) == [4, 5])
    }
  }

  @Test("a source that cannot be removed is an error, and the import counts (case 72)")
  func immovable() async throws {
    guard getuid() == 0 else { return print("skipped: chattr needs root") }
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(1000))
      let identity = try identityOf(source)
      let digest = try await fixture.importFile(source, mode: .take).digest
      guard await shell("chattr +i \(fixture.exports.lossyText) 2>/dev/null") == 0 else {
        return print("skipped: the file system knows no immutable folders")
      }
      let error = await libraryError {
        _ = try await fixture.library.removeSource(source, identity: identity, of: digest)
      }
      #expect(await shell("chattr -i \(fixture.exports.lossyText)") == 0)
      #expect(error?.code == .sourceUnreadable)
      #expect(try status(of: source)?.links == 1)
      #expect(try await fixture.library.verify(digest) == .good)
    }
  }

  @Test(
    "a move takes the first free name, also on another file system",
    arguments: [false, true],
    ["clip.mp4", String(repeating: "ü", count: 125) + "x.mp4"]
  )
  func moves(across: Bool, name: String) async throws {
    guard !across || getuid() == 0 else { return print("skipped: mounting needs root") }
    try await withLibrary { fixture in
      let target = fixture.root.appending("done")
      try Directory.create(target)
      if across { #expect(await shell("mount -t tmpfs tmpfs \(target.lossyText)") == 0) }
      let source = try fixture.export(BytePath(name), randomBytes(1000))
      try writeFile(target.appending(name), [1])
      let identity = try identityOf(source)
      let digest = try await fixture.importFile(source).digest
      let moved = try await fixture.library.moveSource(
        source,
        identity: identity,
        of: digest,
        to: target
      )
      let found = try #require(moved)
      #expect(try readFile(found) == randomBytes(1000))
      #expect(found.lastComponent.exactText?.hasSuffix("~2.mp4") == true)
      #expect(found.lastComponent.bytes.count <= 255)
      #expect(try readFile(target.appending(name)) == [1])
      #expect(try status(of: source) == nil)
      #expect(try Directory.entries(of: target).count == 2)
      if across { #expect(await shell("umount \(target.lossyText)") == 0) }
    }
  }

  @Test(
    "a clone shares the export's extents and survives its change",
    arguments: ["mkfs.xfs -q -m reflink=1", "mkfs.btrfs -q"]
  )
  func reflinks(mkfs: String) async throws {
    let tool = mkfs.prefix { $0 != " " }
    guard getuid() == 0, await shell("command -v \(tool) >/dev/null") == 0 else {
      return print("skipped: \(tool) is not installed, or not root")
    }
    try await withTemporaryDirectory { folder in
      let image = folder.appending("image").lossyText
      guard await shell("truncate -s 400M \(image) && \(mkfs) \(image)") == 0 else {
        throw TestSupportError(mkfs)
      }
      try await withMount("-o loop \(image)") { mount in
        let fixture = try await LibraryFixture(mount)
        let bytes = randomBytes(3_000_000)
        let source = try fixture.export("clip.mp4", bytes)
        let resource = try await fixture.importFile(source)
        #expect(resource.method == .reflinked)
        #expect(try status(of: fixture.object(resource.digest))?.permissions == 0o444)
        try writeFile(source, [1])
        #expect(try readFile(fixture.object(resource.digest)) == bytes)
        #expect(try await fixture.library.verify(resource.digest) == .good)
      }
    }
  }
}
