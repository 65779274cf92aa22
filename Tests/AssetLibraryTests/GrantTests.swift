import AssetLibrary
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

let archive = DestinationName("archive").unsafelyUnwrapped
let preview = DestinationName("preview").unsafelyUnwrapped

@Suite("Grants", .timeLimit(.minutes(5)))
struct GrantTests {
  private static let names: [BytePath] = [
    "clip.mp4", "te[s]t_ video ' _ .flv", "line\nfeed.mp4",
    BytePath([0xFF, 0x2E, 0x6D, 0x70, 0x34]),
    BytePath(String(repeating: "v", count: 251) + ".mp4"), "e\u{301}.mp4", "\u{e9}.mp4",
  ]

  @Test(
    "a grant is a read-only hard link under the export's own name, whatever its bytes (case 62)",
    arguments: names
  )
  func keepsName(name: BytePath) async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(5000)
      let source = try fixture.export(name, bytes)
      let digest = try await fixture.importFile(source).digest
      let paths = try await fixture.library.grant(
        [GrantRequest(digest: digest, name: source)],
        destination: archive,
        handoff: "H1"
      )
      let folder = try await fixture.library.grantsFolder(destination: archive)
      #expect(paths == [folder.appending("H1").appending("1").appending(name)])
      #expect(try readFile(paths[0]) == bytes)
      #expect(try status(of: paths[0])?.inode == status(of: fixture.object(digest))?.inode)
      #expect(try status(of: paths[0])?.permissions == 0o444)
    }
  }

  @Test("several grants keep their order, also of equal names, and repeating gives the same paths")
  func repeats() async throws {
    try await withLibrary { fixture in
      var requests: [GrantRequest] = []
      for number in 0..<3 {
        let file = try fixture.export(BytePath("\(number)"), [UInt8(number)])
        let digest = try await fixture.importFile(file).digest
        requests.append(GrantRequest(digest: digest, name: "clip.mp4"))
      }
      let first = try await fixture.library.grant(requests, destination: archive, handoff: "H1")
      #expect(try first.map { try readFile($0) } == [[0], [1], [2]])
      let reopened = try await AssetLibrary.open(at: fixture.path, logger: .silent)
      #expect(try await reopened.grant(requests, destination: archive, handoff: "H1") == first)
      for request in requests {
        #expect(try status(of: fixture.object(request.digest))?.links == 2)
      }
    }
  }

  @Test("a grant of an object that was repaired leads to the good one")
  func repaired() async throws {
    try await withLibrary { fixture in
      let bytes = randomBytes(5000)
      let source = try fixture.export("clip.mp4", bytes)
      let digest = try await fixture.importFile(source).digest
      let request = GrantRequest(digest: digest, name: source)
      let old = try await fixture.library.grant([request], destination: archive, handoff: "H1")
      try writeFile(fixture.object(digest), [0])
      _ = try await fixture.importFile(source)
      let new = try await fixture.library.grant([request], destination: archive, handoff: "H1")
      #expect(new == old)
      #expect(try readFile(new[0]) == bytes)
    }
  }

  @Test("the end of a grant leaves what is open readable and the object in place")
  func ends() async throws {
    try await withLibrary { fixture in
      let digest = try await fixture.importFile(try fixture.export("a.mp4", [1, 2])).digest
      let request = GrantRequest(digest: digest, name: "a.mp4")
      let path = try await fixture.library.grant([request], destination: archive, handoff: "H1")[0]
      let other = try await fixture.library.grant([request], destination: preview, handoff: "H1")[0]
      let open = try FileDescriptor.open(path, O_RDONLY)
      try await fixture.library.endGrants(destination: archive, handoff: "H1")
      try await fixture.library.endGrants(destination: archive, handoff: "H1")
      #expect(try open.readAll(limit: 10) == [1, 2])
      #expect(try status(of: path) == nil)
      #expect(try status(of: path.parent.parent) == nil)
      #expect(try readFile(other) == [1, 2])
      #expect(try await fixture.library.verify(digest) == .good)
    }
  }

  @Test("a grant of what is not there is refused and leaves nothing, not even of the others")
  func missing() async throws {
    try await withLibrary { fixture in
      let digest = try await fixture.importFile(try fixture.export("a.mp4", [1, 2])).digest
      let requests = [
        GrantRequest(digest: digest, name: "a.mp4"),
        GrantRequest(digest: try contentDigest([9, 9]), name: "b.mp4"),
      ]
      let error = await libraryError {
        _ = try await fixture.library.grant(requests, destination: archive, handoff: "H1")
      }
      #expect(error?.code == .objectMissing)
      let folder = try await fixture.library.grantsFolder(destination: archive)
      #expect(try Directory.entries(of: folder).isEmpty)
    }
  }

  @Test(
    "names that lead elsewhere are refused (case 65)",
    arguments: ["..", ".", "", "a/b", "../x"]
  )
  func hostileHandoff(id: String) async throws {
    try await withLibrary { fixture in
      let digest = try await fixture.importFile(try fixture.export("a.mp4", [1, 2])).digest
      let request = GrantRequest(digest: digest, name: "a.mp4")
      let error = await libraryError {
        _ = try await fixture.library.grant([request], destination: archive, handoff: id)
      }
      #expect(error?.code == .invalidName)
      let ending = await libraryError {
        try await fixture.library.endGrants(destination: archive, handoff: id)
      }
      #expect(ending?.code == .invalidName)
    }
  }

  @Test("where the file system makes no further link, a grant is a read-only copy")
  func noFurtherLink() async throws {
    let faults = FaultPlan(environment: "library.grant:1:errno=\(EMLINK)")
    try await withLibrary(faults: faults) { fixture in
      let digest = try await fixture.importFile(try fixture.export("a.mp4", [1, 2])).digest
      let request = GrantRequest(digest: digest, name: "a.mp4")
      let paths = try await fixture.library.grant([request], destination: archive, handoff: "H1")
      #expect(try readFile(paths[0]) == [1, 2])
      #expect(try status(of: paths[0])?.links == 1)
      #expect(try status(of: paths[0])?.permissions == 0o444)
      #expect(try status(of: fixture.object(digest))?.links == 1)
      #expect(try fixture.staged().isEmpty)
      let again = try await fixture.library.grant([request], destination: archive, handoff: "H1")
      #expect(again == paths)
      #expect(try status(of: fixture.object(digest))?.links == 2)
    }
  }

  @Test("a sweep ends the grants of all but open handoffs")
  func sweep() async throws {
    try await withLibrary { fixture in
      let digest = try await fixture.importFile(try fixture.export("a.mp4", [1, 2])).digest
      let request = GrantRequest(digest: digest, name: "a.mp4")
      var paths: [BytePath] = []
      for destination in [archive, preview] {
        for id in ["H1", "H2"] {
          paths += try await fixture.library.grant([request], destination: destination, handoff: id)
        }
      }
      #expect(try await fixture.library.sweepGrants(keeping: [archive: ["H2"]]) == 3)
      #expect(try paths.map { try status(of: $0) != nil } == [false, true, false, false])
    }
  }
}
