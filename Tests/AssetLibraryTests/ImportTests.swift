import AssetLibrary
import Digests
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Import", .timeLimit(.minutes(5)))
struct ImportTests {
  @Test("an export becomes a read-only object named by its digest, and stays where it was")
  func copies() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(700_001)
      let source = try fixture.export("clip.mp4", bytes)
      let before = try status(of: source)
      let resource = try await fixture.importFile(source)
      let digest = try contentDigest(bytes)
      #expect(resource == ImportedResource(digest: digest, size: 700_001, method: .copied))
      #expect(try readFile(fixture.object(digest)) == bytes)
      #expect(try status(of: fixture.object(digest))?.permissions == 0o444)
      #expect(try status(of: source) == before)
      #expect(try fixture.staged().isEmpty)
      #expect(fixture.log.all.isEmpty)
    }
  }

  @Test("an empty file has the digest of nothing")
  func empty() async throws {
    try await withLibrary { fixture in
      let resource = try await fixture.importFile(try fixture.export("empty.ts", []))
      #expect(resource.digest.hex.hasPrefix("e3b0c44298fc1c14"))
      #expect(resource.size == 0)
    }
  }

  @Test("the same content again is the same object, named as already present (case 69)")
  func identicalContent() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(300_000)
      let first = try await fixture.importFile(try fixture.export("a.mp4", bytes))
      let inode = try status(of: fixture.object(first.digest))?.inode
      let changed = try status(of: fixture.object(first.digest)).map {
        min($0.modified, $0.changed)
      }
      let second = try await fixture.importFile(try fixture.export("b.mp4", bytes))
      #expect(second.digest == first.digest)
      #expect(second.size == 300_000)
      #expect(second.method == .alreadyPresent)
      #expect(second.formerChange == changed)
      #expect(try status(of: fixture.object(first.digest))?.inode == inode)
      #expect(try fixture.staged().isEmpty)
    }
  }

  @Test(
    "twenty imports of equal content at once make one object, and one of them made it (case 69)"
  )
  func parallelEqualContent() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(1_500_000)
      var sources: [BytePath] = []
      for number in 0..<20 { sources.append(try fixture.export(BytePath("\(number).mp4"), bytes)) }
      let methods = try await withThrowingTaskGroup(of: ImportedResource.self) { group in
        for source in sources { group.addTask { try await fixture.importFile(source) } }
        return try await group.reduce(into: []) { $0.append($1.method) }
      }
      #expect(methods.count { $0 == .copied } == 1)
      #expect(methods.count { $0 == .alreadyPresent } == 19)
      #expect(try fixture.objects().map(\.name) == [BytePath(try contentDigest(bytes).hex)])
      #expect(try fixture.staged().isEmpty)
      #expect(try Directory.entries(of: fixture.path.appending("set-aside")).isEmpty)
    }
  }

  @Test("a short import does not wait for long ones")
  func shortPassesLong() async throws {
    try await withLibrary { fixture in
      let long = randomBytes(9 << 20)
      let gate = Captured<Int>()
      var sources: [BytePath] = []
      for number in 0..<8 {
        sources.append(try fixture.export(BytePath("long\(number).mp4"), long))
      }
      let short = try fixture.export("short.mp4", randomBytes(10_000, seed: 2))
      let opened = Captured<Bool>()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for source in sources {
          group.addTask {
            // Each long import holds its lane until the short one is through.
            _ = try await fixture.importFile(source) {
              while opened.all.isEmpty { sched_yield() }
              return true
            }
            gate.append(1)
          }
        }
        _ = try await fixture.importFile(short)
        #expect(gate.all.isEmpty)
        opened.append(true)
        try await group.waitForAll()
      }
      #expect(gate.all.count == 8)
    }
  }

  @Test("a sparse export keeps its holes (case 111)", .timeLimit(.minutes(5)))
  func sparse() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("sparse.mp4", randomBytes(100_000))
      let length: Int64 = 1 << 30
      let file = try FileDescriptor.open(source, O_RDWR)
      try file.setSize(length)
      try randomBytes(5000).withUnsafeBytes { try file.write($0, at: length - 5000) }
      try file.sync()
      let resource = try await fixture.importFile(source)
      #expect(resource.size == length)
      let allocated = try #require(try status(of: fixture.object(resource.digest))?.blocks)
      let original = try #require(try status(of: source)?.blocks)
      #expect(allocated <= original + 1024, "\(allocated) blocks of \(original)")
    }
  }

  @Test("a file that was replaced, cut or extended since it was judged is not imported")
  func changedBefore() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(100_000))
      let judged = try identityOf(source)
      for change in ["append", "truncate", "replace"] {
        switch change {
        case "append":
          let file = try FileDescriptor.open(source, O_WRONLY | O_APPEND)
          try file.write([1])
        case "truncate":
          try FileDescriptor.open(source, O_WRONLY).setSize(50_000)
        default:
          unlink(source.nulTerminated)
          try writeFile(source, randomBytes(100_000))
        }
        let error = await libraryError {
          _ = try await fixture.importFile(source, expecting: judged)
        }
        #expect(error?.code == .sourceChanged, "\(change)")
        #expect(error?.mayPass == true)
      }
      #expect(try fixture.objects().isEmpty)
      #expect(try fixture.staged().isEmpty)
    }
  }

  @Test(
    "a change in the middle of an import discards the attempt",
    arguments: [ImportMode.copy, .take],
    ["append", "overwrite", "truncate", "lease"]
  )
  func changedMeanwhile(mode: ImportMode, change: String) async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("clip.mp4", randomBytes(3_000_000))
      let before = try #require(try status(of: source))
      let asked = Captured<Bool>()
      let error = await libraryError {
        _ = try await fixture.importFile(source, mode: mode) {
          asked.append(true)
          guard asked.all.count == 5 else { return true }
          return change != "lease" && (try? Self.disturb(source, change)) != nil
        }
      }
      #expect(error?.code == .sourceChanged)
      #expect(try fixture.objects().isEmpty)
      #expect(try fixture.staged().isEmpty)
      let after = try #require(try status(of: source))
      #expect(after.links == 1)
      #expect(after.permissions == before.permissions)
      #expect(after.owner == before.owner)
      let again = try await fixture.importFile(source, mode: mode)
      #expect(again.size == after.size)
    }
  }

  private static func disturb(_ source: BytePath, _ change: String) throws {
    let file = try FileDescriptor.open(source, O_WRONLY)
    switch change {
    case "append": try [UInt8]([9]).withUnsafeBytes { try file.write($0, at: 3_000_000) }
    case "overwrite": try [UInt8]([9]).withUnsafeBytes { try file.write($0, at: 100) }
    default: try file.setSize(1_000_000)
    }
  }

  @Test("a folder is no export")
  func notAFile() async throws {
    try await withLibrary { fixture in
      let error = await libraryError { _ = try await fixture.importFile(fixture.exports) }
      #expect(error?.code == .sourceUnreadable)
    }
  }

  @Test(
    "a damaged object is set aside and replaced when its content comes again (case 70)",
    arguments: ["flipped", "short", "empty"]
  )
  func repairs(damage: String) async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(400_000)
      let source = try fixture.export("clip.mp4", bytes)
      let digest = try await fixture.importFile(source).digest
      var damaged = bytes
      switch damage {
      case "flipped": damaged[200_000] ^= 1
      case "short": damaged = Array(bytes.prefix(399_999))
      default: damaged = []
      }
      try writeFile(fixture.object(digest), damaged)
      #expect(try await fixture.library.verify(digest) == .damaged)
      let resource = try await fixture.importFile(source)
      #expect(resource.method == .copied)
      #expect(try readFile(try #require(resource.setAside)) == damaged)
      #expect(try readFile(fixture.object(digest)) == bytes)
      #expect(try await fixture.library.verify(digest) == .good)
    }
  }

  @Test("parallel repairs set aside only what is damaged")
  func parallelRepairs() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(1_000_000)
      var sources: [BytePath] = []
      for number in 0..<8 { sources.append(try fixture.export(BytePath("\(number).mp4"), bytes)) }
      let digest = try await fixture.importFile(sources[0]).digest
      try writeFile(fixture.object(digest), [1, 2, 3])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for source in sources { group.addTask { _ = try await fixture.importFile(source) } }
        try await group.waitForAll()
      }
      let aside = fixture.path.appending("set-aside")
      let names = try Directory.entries(of: aside).map(\.name)
      #expect(names.count == 1)
      for name in names { #expect(try readFile(aside.appending(name)) == [1, 2, 3]) }
      #expect(try await fixture.library.verify(digest) == .good)
      #expect(try fixture.staged().isEmpty)
    }
  }

  @Test("verify tells a missing object")
  func missing() async throws {
    try await withLibrary { fixture in
      let digest = try contentDigest([1])
      #expect(try await fixture.library.verify(digest) == .missing)
    }
  }
}
