import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The reference implementation of ASC MHL, from PyPI, over what the archive writes: `make test-servers`.
@Suite(
  "archive against ascmhl",
  .timeLimit(.minutes(5)),
  .enabled(if: environmentValue("HANDOFF_SERVERS") != nil, "make test-servers runs them")
)
struct MHLServerTests {
  private func tool(_ scene: ArchiveScene) async throws -> String {
    let package = BytePath(#filePath).parent.parent.parent
    let (code, text) = try await scene.sh("'\(package.lossyText)/.ci/python' mhl 2>/dev/null")
    try #require(code == 0)
    return String(text.prefix { $0 != "\n" })
  }

  @Test("it verifies our generations, we go on with its, and it finds what was changed")
  func reference() async throws {
    let scene = try ArchiveScene([
      "layout": .string("reel/{title}/{file}"), "mhl": .bool(true), "mhl_root": .string("reel"),
    ])
    let bin = try await tool(scene)
    let names: [BytePath] = [
      "a.mp4", "b & <c> \"d\" 'e'.mp4", "caf\u{E9}.mp4", "cafe\u{301}.mp4", " lead.mp4",
      "two\nlines.mp4",
      "carriage\rreturn.mp4", "back\\slash.mp4",
    ]
    for (index, name) in names.enumerated() {
      let file = try scene.file("file \(index)", name)
      let outcome = try await scene.deliver("h\(index)", file, title: index < 4 ? "x" : "y & z")
      #expect(outcome.failure == nil, "\(name)")
    }
    func ask(_ command: String, _ code: Int32, _ comment: Comment? = nil) async throws {
      let answer = try await scene.sh("LC_ALL=C.UTF-8 \(bin)/\(command)")
      #expect(answer.code == code, "\(command): \(answer.text)")
    }
    try await ask("ascmhl diff reel", 0)
    try await ask("ascmhl info reel", 0)
    try await ask("ascmhl-debug verify reel", 0)
    // Its own generation has directory hashes, and an ignore pattern that we take over.
    try await ask("ascmhl create -h xxh128 -h c4 -i '*.tmp' reel", 0)
    let more = try scene.file("more", "more.mp4")
    let outcome = try await scene.deliver("more", more, title: "x")
    #expect(outcome.output?["mhl"]?["generation"] == .integer(Int64(names.count) + 2))
    #expect(try await scene.sh("touch reel/x/ignored.tmp").code == 0)
    try await ask("ascmhl diff reel", 0)
    try await ask("ascmhl-debug verify reel", 0)
    // The same again is verified, not new.
    let again = try await scene.deliver("again", more, title: "x")
    #expect(again.output?["mhl"]?["generation"] == .integer(Int64(names.count) + 3))
    try await ask("ascmhl create -h xxh128 reel", 0)
    try await ask("ascmhl diff reel", 0)
    #expect(try await scene.sh("chmod u+w reel/x/a.mp4; echo z >> reel/x/a.mp4").code == 0)
    try await ask("ascmhl-debug verify reel", 11)
    #expect(try await scene.sh("rm reel/x/a.mp4").code == 0)
    try await ask("ascmhl diff reel", 10)
  }

  @Test("killed at every step, the reference tool finds the old history or the new one")
  func crashes() async throws {
    let settings: [String: JSONValue] = ["layout": .string("reel"), "mhl": .bool(true)]
    let bin = try await tool(try ArchiveScene(settings))
    for before in [0, 1] {
      for ordinal in stride(from: 10, through: 70, by: ArchiveScene.stride) {
        let scene = try ArchiveScene(settings)
        if before > 0 { _ = try await scene.deliver("first", try scene.file("one", "one.mp4")) }
        let file = try scene.file("two", "two.mp4")
        let isKilled = try await Self.isKilled(scene, file, "*:\(ordinal):kill")
        let diff = try await scene.sh("test ! -d reel || LC_ALL=C.UTF-8 \(bin)/ascmhl diff reel")
        // No history yet (30), or a file that no generation has yet (21).
        #expect([0, 21, 30].contains(diff.code), "step \(ordinal): \(diff.text)")
        if !isKilled { break }
      }
    }
  }

  /// Hands off with a fault; false if it went through.
  private static func isKilled(
    _ scene: ArchiveScene,
    _ file: Granted,
    _ fault: String
  ) async throws -> Bool {
    do {
      return try await scene.plugin.run(fault: fault) { broker, _ in
        broker.grant(file.identifier, file.asset)
        let submitted = handoff("h", [file.identifier])
        let _: SubmitAnswer = try await broker.ask(.submit, submitted)
        return try await broker.nextResult().outcome.failure != nil
      }
    } catch {
      return true
    }
  }
}
