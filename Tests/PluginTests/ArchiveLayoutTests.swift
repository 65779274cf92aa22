import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive: layouts", .timeLimit(.minutes(2)))
struct ArchiveLayoutTests {
  private func path(
    _ layout: String,
    _ name: BytePath = "Clip.MP4",
    title: String? = nil
  ) async throws -> BytePath? {
    let scene = try ArchiveScene(["layout": .string(layout)])
    let outcome = try await scene.deliver("h1", try scene.file("one", name), title: title)
    #expect(outcome.failure == nil, "\(layout)")
    return try scene.space.files().first { $0.lastComponent != "SHA256SUMS" }
  }

  @Test("a last part with {file} or {ext} names the copy; every other one is a folder")
  func files() async throws {
    #expect(try await path("a/{title}.{ext}", title: "My Film") == "a/My Film.MP4")
    #expect(try await path("a/{title}.{ext}/", title: "My Film") == "a/My Film.MP4/Clip.MP4")
    #expect(try await path("a/{title}", title: "My Film") == "a/My Film/Clip.MP4")
    #expect(try await path("{stem}") == "Clip/Clip.MP4")
    #expect(try await path("{destination}-{handoff}-{file}") == "test-h1-Clip.MP4")
    #expect(try await path("x.{ext}", "noext") == "x")
    #expect(try await path("{title}.{ext}") == "Clip.MP4")
    #expect(try await path("{title}.{ext}", title: "") == "Clip.MP4")
    #expect(try await path("{title}", title: " ") == "untitled/Clip.MP4")
    #expect(try await path("{metadata.a.b}/") == "no-a.b/Clip.MP4")
    #expect(try await path("{title}.{ext}", title: "../.x/\ny") == "_._.x__y.MP4")
    #expect(try await path("{title}", title: "ascmhl") == "_ascmhl/Clip.MP4")
    let long = String(repeating: "\u{E9}", count: 200)
    let cut = try #require(try await path("{title}.{ext}", title: long))
    #expect(cut.bytes.count == 254)
    #expect(cut.lossyText.hasSuffix("\u{E9}.MP4"))
    let bytes = BytePath([0xE9, 0x2E, 0x6D, 0x70, 0x34])
    #expect(try await path("v-{file}", bytes) == BytePath(Array("v-".utf8) + bytes.bytes))
  }

  @Test("a bad layout is told at the start, with the names that there are")
  func problems() async throws {
    let bad: [[String: JSONValue]] = [
      ["layout": .string("{colour}")], ["layout": .string("{year")], ["layout": .string("a}b")],
      ["layout": .string("{metadata.}")], ["layout": .string("a/../b")],
      ["layout": .string("a\u{1}b")],
      ["layout": .string("{year}/{month}"), "mhl": .bool(true), "mhl_root": .string("{month}")],
      ["mhl_root": .string(".")], ["remote": .string("x:y")],
    ]
    for settings in bad {
      let scene = try ArchiveScene(settings)
      let failure = await #expect(throws: RPCMessage.Failure.self) {
        try await scene.plugin.run { _, _ in }
      }
      if settings == bad[0] { #expect("\(String(describing: failure))".contains("metadata.NAME")) }
    }
  }
}
