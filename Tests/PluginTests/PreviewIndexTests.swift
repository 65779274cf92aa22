import FoundationEssentials
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@testable import handoff_preview

@Suite("index of previews", .timeLimit(.minutes(1)))
struct PreviewIndexTests {
  private static func identifier(_ seed: Int) -> LocalIdentifier {
    var bytes = [UInt8](repeating: 7, count: 32)
    (bytes[0], bytes[1]) = (UInt8(seed >> 8), UInt8(seed & 255))
    return LocalIdentifier(known(ContentDigest(bytes)))
  }

  /// Puts a preview into the folder, as the plugin does: whole, by a rename.
  private static func add(
    _ seed: Int,
    to folder: BytePath,
    title: String? = nil
  ) throws -> BytePath {
    let identifier = identifier(seed)
    let facts = PreviewFacts.sample(identifier, title: title ?? "Clip \(seed)")
    let part = folder.appending(BytePath(".handoff-\(seed).part"))
    try Directory.create(part)
    let bytes = Array(try JSONEncoder().encode(facts))
    try FileDescriptor.open(part.appending("preview.json"), O_WRONLY | O_CREAT).write(bytes)
    let place = folder.appending(identifier.uuid)
    try DurableFile.rename(part, to: place)
    return place
  }

  private static func page(_ folder: BytePath) throws -> String {
    let file = try FileDescriptor.open(folder.appending("index.html"), O_RDONLY)
    return String(decoding: try file.readAll(limit: 100 << 20), as: UTF8.self)
  }

  private static func titles(_ folder: BytePath) throws -> Set<String> {
    Set(
      try page(folder).split(separator: "data-title=\"").dropFirst().map {
        String($0.prefix { $0 != "\"" })
      }
    )
  }

  @Test("it shows what is there at each rebuild, and nothing of what was deleted")
  func rebuilds() async throws {
    let scratch = try Scratch()
    let index = IndexFolder(scratch.out)
    #expect(try await index.rebuild().isEmpty)
    #expect(try Directory.entries(of: scratch.out).isEmpty)
    let first = try Self.add(1, to: scratch.out, title: "<b>&\"'")
    let second = try Self.add(2, to: scratch.out)
    // A crash between a preview and the index leaves it to the next rebuild, which may be another process's.
    #expect(try await IndexFolder(scratch.out).rebuild().isEmpty)
    #expect(try Self.titles(scratch.out) == ["&lt;b&gt;&amp;&quot;&#39;", "Clip 2"])
    try Directory.removeTree(first)
    #expect(try await index.rebuild().isEmpty)
    #expect(try Self.titles(scratch.out) == ["Clip 2"])
    try Directory.removeTree(second)
    #expect(try await index.rebuild().isEmpty)
    #expect(try Self.page(scratch.out).contains("There is no preview yet."))
  }

  @Test("a preview that was made again is shown as it is now")
  func madeAgain() async throws {
    let scratch = try Scratch()
    let index = IndexFolder(scratch.out)
    let place = try Self.add(1, to: scratch.out, title: "Before")
    _ = try await index.rebuild()
    try Directory.removeTree(place)
    _ = try Self.add(1, to: scratch.out, title: "After!")
    _ = try await index.rebuild()
    #expect(try Self.titles(scratch.out) == ["After!"])
  }

  @Test(
    "damaged facts are left out and told, and the others stay",
    arguments: ["", "{", "[1]", "{\"version\": 1}", "\u{0}\u{0}\u{0}"]
  )
  func damaged(text: String) async throws {
    let scratch = try Scratch()
    let place = try Self.add(1, to: scratch.out)
    _ = try Self.add(2, to: scratch.out)
    try DurableFile.write(Array(text.utf8), to: place.appending("preview.json"))
    let told = try await IndexFolder(scratch.out).rebuild()
    #expect(told.count == 1)
    #expect(told.first?.contains(place.lastComponent.lossyText) == true)
    #expect(try Self.titles(scratch.out) == ["Clip 2"])
  }

  @Test("other folders, links and half-made previews are none")
  func others() async throws {
    let scratch = try Scratch()
    let place = try Self.add(1, to: scratch.out)
    let link = scratch.out.appending(Self.identifier(2).uuid)
    #expect(symlink(place.nulTerminated, link.nulTerminated) == 0)
    for name in ["notes", ".handoff-9.part"] as [BytePath] {
      try Directory.create(scratch.out.appending(name))
    }
    try Directory.create(scratch.out.appending(Self.identifier(3).uuid))
    #expect(try await IndexFolder(scratch.out).rebuild().isEmpty)
    #expect(try Self.titles(scratch.out) == ["Clip 1"])
  }

  @Test("somebody else's index.html stays")
  func foreignPage() async throws {
    let scratch = try Scratch()
    _ = try Self.add(1, to: scratch.out)
    let page = Array("<h1>Mine</h1>".utf8)
    try DurableFile.write(page, to: scratch.out.appending("index.html"))
    let told = try await IndexFolder(scratch.out).rebuild()
    #expect(told.count == 1)
    #expect(try Self.page(scratch.out) == "<h1>Mine</h1>")
  }

  @Test("what is known of before is no more than a help: damaged or gone, all is read again")
  func lostMemory() async throws {
    let scratch = try Scratch()
    let index = IndexFolder(scratch.out)
    _ = try Self.add(1, to: scratch.out)
    _ = try await index.rebuild()
    let own = scratch.out.appending(IndexFolder.own)
    for text in ["", "{\"version\":0,\"previews\":{}}", "junk"] {
      try DurableFile.write(Array(text.utf8), to: own.appending(IndexMemory.file))
      try DurableFile.write([1], to: own.appending(".2.2.tmp"))
      #expect(try await index.rebuild().isEmpty)
      #expect(try Self.titles(scratch.out) == ["Clip 1"])
      let names = Set(try Directory.entries(of: own).map(\.name))
      #expect(names == ["lock", IndexMemory.file])
    }
  }

  @Test("whoever does not let go of the lock is not waited for without end")
  func lock() async throws {
    let scratch = try Scratch()
    let held = try FolderLock(in: scratch.out)
    #expect(throws: SystemError.self) { try FolderLock(in: scratch.out, patience: 0.05) }
    withExtendedLifetime(held) {}
    let free = scratch.out.appending("free")
    _ = try FolderLock(in: free)
    _ = try FolderLock(in: free, patience: 0)
  }

  @Test("previews that end at the same moment do not lose one another")
  func together() async throws {
    let scratch = try Scratch()
    let out = scratch.out
    let count = 24
    try await withThrowingTaskGroup { group in
      for seed in 0..<count {
        // Each with a lock of its own, as in as many processes.
        group.addTask {
          _ = try Self.add(seed, to: out)
          #expect(try await IndexFolder(out).rebuild().isEmpty)
          // Whoever has finished is on the page from then on.
          #expect(try Self.titles(out).contains("Clip \(seed)"))
        }
      }
      try await group.waitForAll()
    }
    #expect(try Self.titles(out).count == count)
  }
}
