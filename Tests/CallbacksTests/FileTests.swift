import Callbacks
import Glibc
import HandoffCore
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Callbacks that are files and folders.
@Suite("Callback files", .timeLimit(.minutes(1)))
struct FileTests {
  @Test("each notice is one more line, and what was there stays")
  func lines() async throws {
    try await CallbackScene.with { scene in
      try DurableFile.write(Array("{\"mine\":1}\n".utf8), to: scene.path("out.jsonl"))
      let delivery = try scene.delivery(.file(scene.path("out.jsonl")))
      try await delivery.deliver(try scene.notice(["title": .string("a\nb")], row: 1))
      try await delivery.deliver(try scene.notice(row: 2))
      let lines = try scene.text("out.jsonl").split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines.first == "{\"mine\":1}")
      let documents = try lines.map { try WireCoder.decode(JSONValue.self, from: $0.utf8) }
      #expect(documents.map { $0["notice_id"]?.text } == [nil, "n1", "n2"])
      #expect(documents[1]["title"]?.text == "a\nb")
    }
  }

  @Test("a file that is not there is made, for its owner and group only")
  func made() async throws {
    try await CallbackScene.with { scene in
      try await scene.delivery(.file(scene.path("new.jsonl"))).deliver(try scene.notice())
      let status = try #require(try FileStatus.of(scene.path("new.jsonl")))
      #expect(status.permissions & 0o007 == 0)
      #expect(try scene.text("new.jsonl").hasSuffix("}\n"))
    }
  }

  @Test("a line that was cut short stays alone on its line")
  func cutShort() async throws {
    try await CallbackScene.with { scene in
      try DurableFile.write(Array("{\"half".utf8), to: scene.path("out.jsonl"))
      try await scene.delivery(.file(scene.path("out.jsonl"))).deliver(try scene.notice())
      let lines = try scene.text("out.jsonl").split(separator: "\n")
      #expect(lines.first == "{\"half")
      #expect(lines.count == 2)
    }
  }

  @Test("a folder gets a document for each notice; one that comes twice is one")
  func folder() async throws {
    try await CallbackScene.with { scene in
      try Directory.create(scene.path("told"))
      let delivery = try scene.delivery(.file(scene.path("told")))
      for row: Int64 in [1, 2, 1] { try await delivery.deliver(try scene.notice(row: row)) }
      let names = try Directory.entries(of: scene.path("told")).map(\.name).sorted()
      #expect(names == ["n1.json", "n2.json"])
      let document = try WireCoder.decode(JSONValue.self, from: scene.bytes("told/n2.json"))
      #expect(document["notice_id"]?.text == "n2")
    }
  }

  @Test("what is no file, or cannot be written, fails with the reason, and blocks nobody")
  func unfit() async throws {
    try await CallbackScene.with { scene in
      let fifo = scene.path("fifo")
      try checked("mkfifo", fifo) { mkfifo(fifo.nulTerminated, 0o600) }
      let places: [(BytePath, String)] = [
        (fifo, "neither a file nor a folder"), ("/dev/full", "neither a file nor a folder"),
        (scene.path("no/such/folder.jsonl"), "No such file"),
      ]
      for (path, reason) in places {
        let delivery = try scene.delivery(.file(path))
        let failure = await #expect(throws: DeliveryFailure.self) {
          try await delivery.deliver(try scene.notice())
        }
        #expect(failure?.reason.contains(reason) == true)
      }
    }
  }
}
