import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What is open for a destination that a person takes out of the configuration.
@Suite("Removed destinations", .timeLimit(.minutes(2)))
struct RemovedDestinationTests {
  private static func destinations(opener: String) -> String {
    """
    [destination.desktop]
    transport = "url"
    url = "editor://handoff"
    opener = ["\(opener)"]
    [destination.later]
    transport = "exec"
    command = ["/bin/true"]
    """
  }

  private static let others = """
    [destination.other]
    transport = "exec"
    command = ["/bin/true"]
    """

  @Test("stays visible, is refused another attempt, keeps its late result and can be cancelled")
  func removed() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      let broker = scene.broker
      let opener = try scene.script(
        "opener",
        "printf '%s' \"$1\" > '\(broker.root.lossyText)/opened'"
      )
      try Self.configure(scene, Self.destinations(opener: opener))
      try await broker.start()
      let asset = BytePath(try await scene.importedAsset(1))
      let open = try await Self.id(
        of: broker.json("send", asset, "--to", "desktop", "--key", "k1")
      )
      _ = try await broker.wait("show", open) { $0["status"]?.text == "accepted" }
      let waiting = try await Self.id(
        of: broker.json("send", asset, "--to", "later", "--publish-at", "2099-01-01T00:00:00Z")
      )
      await broker.end(SIGKILL)
      try Self.configure(scene, Self.others)
      try await broker.start()

      let listed = try await broker.json("status")["needs_person"]?.elements ?? []
      #expect(Set(listed.compactMap { $0["id"]?.text }) == [open.lossyText, waiting.lossyText])
      #expect(listed.allSatisfy { $0["waiting"]?["reason"]?.text == "destination_unknown" })
      let shown = try await broker.json("why", open)
      #expect(shown["status"]?.text == "outcome_unknown")
      #expect(shown["error"]?["message"]?.text == "its destination is not configured any more")
      #expect(
        try await broker.json("show", waiting)["waiting"]?["reason"]?.text == "destination_unknown"
      )
      let doctor = try await broker.command(["doctor"])
      let said = String(decoding: doctor.output, as: UTF8.self)
      #expect(said.contains("destination desktop is not configured any more"))

      for id in [open, waiting] {
        let retried = try await broker.command(["retry", id])
        #expect(retried.code == 4)
        #expect(retried.errors.contains("destination_unknown"))
      }
      // The sender tries again, and hears what its first try made.
      #expect(
        try await Self.id(of: broker.json("send", asset, "--to", "desktop", "--key", "k1")) == open
      )
      let url = try FileDescriptor.open(broker.root.appending("opened"), O_RDONLY)
        .readAll(limit: 65_536)
      let token = try HandoffURL.decodeRequest(url).state.revealed
      let result = try await broker.command([
        "result",
        BytePath(
          "editor://result?protocol_version=3&state=\(token)&result=success&output.id=7"
        ),
      ])
      #expect(result.code == 4)
      #expect(result.errors.contains("desktop is not configured any more; the result is kept"))
      #expect(!result.errors.contains(token))
      #expect(try await broker.json("show", open)["late_results"] == .integer(1))
      let adopted = try await broker.json("adopt", open)
      #expect(adopted["status"]?.text == "succeeded")
      #expect(adopted["output"]?["id"]?.text == "7")
      #expect(try await broker.json("cancel", waiting)["status"]?.text == "cancelled")
      #expect(try await broker.json("status")["needs_person"]?.elements.isEmpty == true)
    }
  }

  private static func configure(_ scene: Scene, _ destinations: String) throws {
    let text = Scene.configuration(destinations: destinations)
    try DurableFile.write(Array(text.utf8), to: scene.broker.config)
  }

  private static func id(of sent: JSONValue) throws -> BytePath {
    BytePath(try #require(sent.elements.first).text(of: "id"))
  }
}
