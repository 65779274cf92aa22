import AssetLibrary
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Tombstones", .timeLimit(.minutes(5)))
struct TombstoneTests {
  private func asset(_ resource: ImportedResource) throws -> Asset {
    let asset = Asset(
      digest: resource.digest,
      size: resource.size,
      facts: try sampleAsset().facts,
      importedAt: Timestamp(milliseconds: 1)
    )
    return asset
  }

  @Test("a tombstone leaves the record and no bytes, and can be put twice")
  func leave() async throws {
    try await withLibrary { fixture in
      let resource = try await fixture.importFile(try fixture.export("a.mp4", [1, 2, 3]))
      let asset = try asset(resource)
      try await fixture.library.writeRecord(asset)
      #expect(try await fixture.library.holds(resource.digest))
      for _ in 1...2 {
        try await fixture.library.leaveTombstone(of: asset)
        #expect(try await !fixture.library.holds(resource.digest))
        #expect(try await fixture.library.verify(resource.digest) == .missing)
        #expect(try await fixture.library.record(of: resource.digest)?.status == .deleted)
      }
      let contents = try await fixture.library.contents()
      #expect(contents.assets.map(\.status) == [.deleted])
      #expect(contents.orphans.isEmpty)
    }
  }

  @Test("a tombstone names no renditions, and keeps an object that another asset needs")
  func renditions() async throws {
    try await withLibrary { fixture in
      let resource = try await fixture.importFile(try fixture.export("a.mp4", [1, 2, 3]))
      let proxy = try await fixture.importFile(try fixture.export("p.mp4", [4, 5]))
      var asset = try asset(resource)
      asset.renditions = [
        Rendition(
          name: try #require(RenditionName("proxy")),
          digest: proxy.digest,
          size: proxy.size,
          fileExtension: "mp4",
          facts: asset.facts,
          registeredBy: try #require(DestinationName("preview")),
          registeredAt: Timestamp(milliseconds: 2)
        )
      ]
      try await fixture.library.writeRecord(asset)
      #expect(try await fixture.library.record(of: resource.digest) == asset)
      try await fixture.library.leaveTombstone(of: asset, keepingObject: true)
      #expect(try await fixture.library.holds(resource.digest))
      #expect(try await fixture.library.record(of: resource.digest)?.renditions.isEmpty == true)
      for _ in 1...2 { try await fixture.library.removeObject(proxy.digest) }
      #expect(try await !fixture.library.holds(proxy.digest))
    }
  }

  @Test("what a grant links to stays readable until the grant ends")
  func granted() async throws {
    try await withLibrary { fixture in
      let resource = try await fixture.importFile(try fixture.export("a.mp4", [1, 2, 3]))
      let destination = try #require(DestinationName("archive"))
      let path = try #require(
        try await fixture.library.grant(
          [GrantRequest(digest: resource.digest, name: "a.mp4")],
          destination: destination,
          handoff: "h1"
        ).first
      )
      try await fixture.library.leaveTombstone(of: try asset(resource))
      #expect(try readFile(path) == [1, 2, 3])
      try await fixture.library.endGrants(destination: destination, handoff: "h1")
      #expect(try status(of: path) == nil)
    }
  }

  @Test("the same content comes back as a new object")
  func back() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("a.mp4", [1, 2, 3])
      let resource = try await fixture.importFile(source)
      try await fixture.library.leaveTombstone(of: try asset(resource))
      let again = try await fixture.importFile(source)
      #expect(again.digest == resource.digest)
      #expect(again.method != .alreadyPresent)
      #expect(try await fixture.library.verify(resource.digest) == .good)
    }
  }

  @Test("whatever step fails, the error says that it may pass, and the next try removes the bytes")
  func failure() async throws {
    try await withLibrary { fixture in
      let source = try fixture.export("a.mp4", [1, 2, 3])
      var failures = 0
      while true {
        let resource = try await fixture.importFile(source)
        let asset = try asset(resource)
        let plan = FaultPlan(environment: "*:\(failures + 1):errno=5")
        let failing = try await LibraryFixture(fixture.root, faults: plan)
        let error = await libraryError { try await failing.library.leaveTombstone(of: asset) }
        guard let error else { break }
        failures += 1
        #expect(error.code == .inputOutput, "step \(failures)")
        #expect(error.mayPass, "step \(failures)")
        try await fixture.library.leaveTombstone(of: asset)
        #expect(try await !fixture.library.holds(resource.digest), "step \(failures)")
        #expect(try fixture.staged().isEmpty, "step \(failures)")
      }
      // Write, fsync, rename and sync of the record; unlink and sync of the object.
      #expect(failures >= 6)
    }
  }

  @Test("while the library is away nothing is removed, and nothing counts as gone")
  func away() async throws {
    try await withLibrary { fixture in
      let resource = try await fixture.importFile(try fixture.export("a.mp4", [1, 2, 3]))
      let asset = try asset(resource)
      try DurableFile.rename(fixture.path, to: fixture.root.appending("unmounted"))
      let error = await libraryError { try await fixture.library.leaveTombstone(of: asset) }
      #expect(error?.code == .unavailable)
      try DurableFile.rename(fixture.root.appending("unmounted"), to: fixture.path)
      #expect(try await fixture.library.holds(resource.digest))
    }
  }

  @Test("the record keeps what a person has accepted")
  func acceptance() async throws {
    try await withLibrary { fixture in
      var asset = try sampleAsset()
      asset.acceptance = Acceptance(
        at: Timestamp(milliseconds: 5),
        by: 1000,
        findings: "no moov"
      )
      try await fixture.library.writeRecord(asset)
      #expect(try await fixture.library.record(of: asset.digest) == asset)
    }
  }
}
