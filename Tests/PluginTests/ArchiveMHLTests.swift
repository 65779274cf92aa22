import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive with ASC MHL", .timeLimit(.minutes(5)))
struct ArchiveMHLTests {
  private static let settings: [String: JSONValue] = ["layout": .string(""), "mhl": .bool(true)]

  @Test("a generation has the hashes that the reference tool makes, and what it shall ignore")
  func structure() async throws {
    let scene = try ArchiveScene(Self.settings)
    let outcome = try await scene.deliver("h", try scene.file("hello\n", "a & b.mp4"))
    let manifest = BytePath(try #require(outcome.output?["mhl"]?["manifest"]?.text))
    #expect(outcome.output?["mhl"]?["generation"] == .integer(1))
    let bytes = try FileDescriptor.open(manifest, O_RDONLY).readAll(limit: 10_000)
    var text = String(decoding: bytes, as: UTF8.self)
    text = text.replacing(/<hostname>[^<]+</, with: "<hostname>H<")
    text = text.replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "D")
    let attributes = "action=\"original\" hashdate=\"D\""
    let expected = """
      <?xml version="1.0" encoding="UTF-8"?>
      <hashlist version="2.0" xmlns="urn:ASC:MHL:v2.0">
        <creatorinfo>
          <creationdate>D</creationdate>
          <hostname>H</hostname>
          <tool version="1.0">handoff-archive</tool>
          <comment>handoff h</comment>
        </creatorinfo>
        <processinfo>
          <process>transfer</process>
          <ignore>
            <pattern>.DS_Store</pattern>
            <pattern>ascmhl</pattern>
            <pattern>ascmhl/</pattern>
            <pattern>SHA256SUMS</pattern>
            <pattern>.handoff-*</pattern>
          </ignore>
        </processinfo>
        <hashes>
          <hash>
            <path size="6" lastmodificationdate="D">a &amp; b.mp4</path>
            <c4 \(attributes)>c45dkQrAqUiR8WzPGgn6fAGji3VAVeAE7cKVG4G53ou9dTk4Nzb9vFYEwzy9jq5ZKQKM64DMpPpVbYe2bMsZP2yYKi</c4>
            <xxh128 \(attributes)>6bba86c7e069f56d5a10b435f1c8e49c</xxh128>
          </hash>
        </hashes>
      </hashlist>

      """
    #expect(text == expected)
  }

  @Test("killed at every step, a history has each delivery once, and is whole")
  func crashes() async throws {
    let scene = try ArchiveScene(Self.settings)
    var expected: [String] = []
    for ordinal in stride(from: 10, through: 70, by: ArchiveScene.stride) {
      let name = "clip-\(ordinal).mp4"
      let file = try scene.file("bytes of \(ordinal)", BytePath(name))
      let ended = try await scene.plugin.deliverOverCrashes(
        handoff("h\(ordinal)", [file.identifier]),
        file.grants,
        faults: ["*:\(ordinal):kill"]
      )
      expected.append(name)
      let generation = ended.outcome.output?["mhl"]?["generation"]
      #expect(generation == .integer(Int64(expected.count)), "step \(ordinal)")
      let names = try Directory.entries(of: scene.out).map(\.name)
      #expect(Set(names) == Set(["SHA256SUMS", "ascmhl"] + expected.map { BytePath($0) }))
      if ended.processes == 1 { break }
    }
    #expect((6..<60).contains(expected.count))
    #expect(try await scene.generations() == expected)
  }

  @Test("killed while a history is begun, it is begun once")
  func crashesOfFirst() async throws {
    var steps = 0
    for ordinal in stride(from: 11, through: 70, by: ArchiveScene.stride) {
      let scene = try ArchiveScene(Self.settings)
      let file = try scene.file("one", "clip.mp4")
      let ended = try await scene.plugin.deliverOverCrashes(
        handoff("h", [file.identifier]),
        file.grants,
        faults: ["*:\(ordinal):kill"]
      )
      #expect(ended.outcome.output?["mhl"]?["generation"] == .integer(1), "step \(ordinal)")
      let names = try Directory.entries(of: scene.out).map(\.name)
      #expect(Set(names) == ["SHA256SUMS", "ascmhl", "clip.mp4"], "step \(ordinal)")
      #expect(try Directory.entries(of: scene.out.appending("ascmhl")).count == 2)
      steps += 1
      if ended.processes == 1 { break }
    }
    #expect((4..<60).contains(steps))
  }

  @Test("an altered generation is not gone on with; the copy is kept, and listed in a new history")
  func altered() async throws {
    let scene = try ArchiveScene(Self.settings)
    _ = try await scene.deliver("a", try scene.file("one", "one.mp4"))
    let damages = [
      "sed -i s/original/verified/ ascmhl/0001*", "mv ascmhl/0001* .", "rm ascmhl/ascmhl_chain.xml",
      "cp ascmhl/0001* ascmhl/0002_x.mhl", ": > ascmhl/ascmhl_chain.xml",
    ]
    #expect(try await scene.sh("cp -r ascmhl ../good").code == 0)
    for (index, damage) in damages.enumerated() {
      #expect(try await scene.sh("rm -rf ascmhl 0001*; cp -r ../good ascmhl; \(damage)").code == 0)
      let before = try await scene.sh("cat ascmhl/* | sha256sum").text
      let file = try scene.file("two \(index)", BytePath("two-\(index).mp4"))
      let failed = try await scene.deliver("b\(index)", file)
      #expect(failed.failure?.code == .receiverFailed, "\(damage)")
      #expect(failed.failure?.retry == .afterFix, "\(damage)")
      #expect(try await scene.sh("sha256sum -c SHA256SUMS; cat two-\(index).mp4").code == 0)
      #expect(try await scene.sh("cat ascmhl/* | sha256sum").text == before)
      #expect(try await scene.sh("mv ascmhl ../old-\(index)").code == 0)
      let again = try await scene.deliver("b\(index)", file, attempt: 2)
      #expect(again.output?["mhl"]?["generation"] == .integer(1))
      #expect(try await scene.generations() == ["two-\(index).mp4"])
    }
  }

  @Test("deliveries at once into one folder each have their generation")
  func atOnce() async throws {
    let scene = try ArchiveScene(Self.settings)
    let other = try ArchiveScene(Self.settings, folder: scene.out)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (name, one) in [("x", scene), ("y", other)] {
        let plugin = one.plugin
        let files = try (0..<6).map { try one.file("\(name)\($0)", BytePath("\(name)\($0).mp4")) }
        group.addTask {
          try await plugin.run { broker, _ in
            for (index, file) in files.enumerated() {
              broker.grant(file.identifier, file.asset)
              let submitted = handoff("\(name)\(index)", [file.identifier])
              let _: SubmitAnswer = try await broker.ask(.submit, submitted)
            }
            for _ in files {
              let outcome = try await broker.nextResult().outcome
              #expect(outcome.failure == nil)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let listed = try await scene.generations()
    #expect(listed.sorted() == ["x", "y"].flatMap { name in (0..<6).map { "\(name)\($0).mp4" } })
  }

  @Test(
    "the unit is the copy's folder, or the one that is set; a delivery of many has one generation"
  )
  func units() async throws {
    for (root, places) in [(nil, ["A/B"]), ("A", ["A"]), (".", ["."])] as [(String?, [String])] {
      var settings = Self.settings
      settings["layout"] = .string("A/B/{stem}-x.{ext}")
      settings["mhl_root"] = root.map { .string($0) }
      let scene = try ArchiveScene(settings)
      let files = try (0..<3).map { try scene.file("file \($0)", BytePath("f\($0).mp4")) }
      let grants = Dictionary(uniqueKeysWithValues: files.map { ($0.identifier, $0.asset) })
      let outcome = try await scene.plugin.deliver(handoff("h", files.map(\.identifier)), grants)
      #expect(outcome.failure == nil)
      let prefix = ["A/B": "", "A": "B/", ".": "A/B/"][places[0]] ?? ""
      let expected = (0..<3).map { "\(prefix)f\($0)-x.mp4" }.joined(separator: ",")
      #expect(try await scene.generations(places[0]) == [expected])
    }
  }

  @Test("a name that the history has for other content is not used again")
  func formerContent() async throws {
    let scene = try ArchiveScene(Self.settings)
    _ = try await scene.deliver("a", try scene.file("one", "clip.mp4"))
    #expect(try await scene.sh("rm clip.mp4").code == 0)
    let outcome = try await scene.deliver("b", try scene.file("two", "clip.mp4"))
    let name = try #require(outcome.output?["path"]?.text).split(separator: "/").last ?? ""
    #expect(name.hasPrefix("clip-"))
    #expect(try await scene.generations() == ["clip.mp4", String(name)])
    // The first content again gets its name back.
    let again = try await scene.deliver("c", try scene.file("one", "clip.mp4"))
    #expect(again.output?["path"]?.text?.hasSuffix("/clip.mp4") == true)
  }

  @Test("a name that XML cannot hold is left out of the history, and the receipt says so")
  func names() async throws {
    let scene = try ArchiveScene(Self.settings)
    let name = BytePath(Array("caf".utf8) + [0xE9] + Array(".mp4".utf8))
    let outcome = try await scene.deliver("a", try scene.file("one", name))
    #expect(outcome.output?["mhl"]?["left_out"] != nil)
    #expect(try scene.space.files() == [name, "SHA256SUMS"])
  }

  @Test("a history of two thousand generations is gone on with in bearable time")
  func longHistory() async throws {
    let scene = try ArchiveScene(Self.settings)
    _ = try await scene.deliver("first", try scene.file("one", "clip.mp4"))
    let script = """
      python3 - <<'END'
      import glob, hashlib
      A = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
      first = open(glob.glob("ascmhl/0001*")[0]).read()
      chain = open("ascmhl/ascmhl_chain.xml").read()
      links = ""
      for n in range(2, 2001):
          name = "%04d_out_2026-01-01_000000Z.mhl" % n
          text = first.replace("clip.mp4", "clip-%d.mp4" % n).replace("first", "h%d" % n)
          v, s = int(hashlib.sha512(text.encode()).hexdigest(), 16), ""
          while v: v, s = v // 58, A[v % 58] + s
          open("ascmhl/" + name, "w").write(text)
          links += '<hashlist sequencenr="%d"><path>%s</path><c4>c4%s</c4></hashlist>\\n' % (
              n, name, s.rjust(88, "1"))
      end = "</ascmhldirectory>"
      open("ascmhl/ascmhl_chain.xml", "w").write(chain.replace(end, links + end))
      END
      """
    let made = try await scene.sh(script)
    try #require(made.code == 0, "\(made.text)")
    let file = try scene.file("more", "more.mp4")
    let clock = ContinuousClock()
    let taken = try await clock.measure {
      let outcome = try await scene.deliver("more", file)
      #expect(outcome.output?["mhl"]?["generation"] == .integer(2001))
    }
    print("a delivery to 2,000 generations: \(taken)")
    #expect(taken < .seconds(10))
  }
}
