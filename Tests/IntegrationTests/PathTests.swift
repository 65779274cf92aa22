import Glibc
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// Files that are named in other words than their drop folder has them.
@Suite("Paths, end to end")
struct PathTests {
  private static let nested =
    Scene.configuration(handoff: ["quick"], destinations: Scene.held) + """

      [[drop_folder]]
      path = "exports/hold"
      quiet = "100ms"
      proof = "marker"
      """

  @Test(
    "the rules of a nested folder hold however a person writes the path",
    .timeLimit(.minutes(1))
  )
  func nestedRules() async throws {
    try await Scene.run(Self.nested, starting: false) { scene in
      let hold = scene.exports.appending("hold")
      try Directory.create(hold)
      let link = scene.exports.appending("link")
      try checked("symlink", link) { symlink(hold.nulTerminated, link.nulTerminated) }
      try await scene.broker.start()
      try scene.write(try await Scene.video(1), to: "hold/h.mp4")
      let path = hold.appending("h.mp4")
      _ = try await scene.broker.wait("why", path) { $0["state"]?.text == "waiting_proof" }
      let ways = ["./hold/h.mp4", "hold//h.mp4", "hold/../hold/./h.mp4", "link/h.mp4"]
      for way in ways {
        let written = BytePath(scene.exports.bytes + Array("/\(way)".utf8))
        #expect(try await scene.broker.command(["retry", written]).code == 0, "\(way)")
        let why = try await scene.broker.wait("why", written) {
          $0["state"]?.text == "waiting_proof"
        }
        #expect(why["path"]?.text == path.lossyText, "\(way)")
      }
      // A later export shows that what was begun has ended.
      try scene.write(try await Scene.video(2), to: "ok.mp4")
      let known = try await scene.identifier(of: "ok.mp4")
      let again = BytePath(scene.exports.bytes + Array("/./ok.mp4".utf8))
      _ = try await scene.broker.command(["retry", again])
      let handoffs = try await scene.broker.wait("handoffs") { !$0.elements.isEmpty }
      #expect(
        handoffs.elements.map { $0["local_identifiers"]?.elements } == [[.string(known)]]
      )
      let status = try await scene.broker.wait("status") { status in
        status["candidates"]?.elements.allSatisfy {
          ["waiting_proof", "ignored"].contains($0["state"]?.text)
        } == true
      }
      let named = status["candidates"]?.elements.compactMap { $0["path"]?.text } ?? []
      #expect(named.contains(path.lossyText))
      #expect(named.allSatisfy { !$0.contains("/./") && !$0.contains("//") && !$0.contains("/..") })
    }
  }
}
