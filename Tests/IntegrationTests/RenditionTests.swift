import Digests
import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// `after` and `use`, from the plugin that registers a proxy to everybody who is given it.
@Suite("after and use", .timeLimit(.minutes(3)))
struct RenditionTests {
  private static let users = """
    [destination.script]
    transport = "exec"
    command = ["/bin/sh", "-c", "cp \\"$HANDOFF_ASSET_1\\" ROOT/script.copy"]
    containment = "none"
    after = ["maker"]
    use = "proxy"
    [destination.share]
    transport = "file"
    inbox = "share"
    after = ["maker"]
    use = "proxy"
    [destination.narrow]
    transport = "exec"
    command = ["/bin/true"]
    after = ["maker"]
    use = "proxy"
    [destination.narrow.constraints]
    video_codecs = ["vp9"]

    """
  private static let waits = "after = [\"maker\"]\nuse = \"proxy\""

  @Test("a proxy goes to whoever uses it, is kept like an original, and goes with its asset")
  func used() async throws {
    let destinations =
      RenditionPlugin.destination("maker", "make")
      + RenditionPlugin.destination("social", "take", Self.waits) + Self.users
    let route = ["social", "script", "share", "narrow", "maker"]
    try await RenditionPlugin.run(route, destinations) { scene in
      try scene.place(try await Scene.video(1), as: "clip one.mp4")
      let asset = try await scene.identifier(of: "clip one.mp4")
      let made = try await scene.handoff(of: asset, to: "maker", is: "succeeded")
      let proxy = try #require(made["output"]?["proxy"]?.text)
      #expect(proxy.count == 64)
      #expect(made["output"]?["again"]?.text == proxy, "the same bytes are the same")
      let posted = try await scene.handoff(of: asset, to: "social", is: "succeeded")
      #expect(posted["output"]?["sha256"]?.text == proxy)
      #expect(posted["output"]?["name"]?.text == "clip one.mov")
      #expect(posted["output"]?["rendition"]?.text == "proxy")
      _ = try await scene.handoff(of: asset, to: "script", is: "succeeded")
      _ = try await scene.handoff(of: asset, to: "share", is: "succeeded")
      let copies = [
        scene.broker.root.appending("script.copy"),
        scene.broker.root.appending("share/clip one.mov"),
      ]
      for copy in copies { #expect(try Self.digest(of: copy) == proxy) }
      let narrow = try await scene.handoff(of: asset, to: "narrow", is: "refused")
      #expect(narrow["error"]?["code"]?.text == "unsupported_media")
      let before = try await Self.renditions(of: asset, scene)
      #expect(before.map { $0["name"]?.text } == ["proxy"])
      #expect(before.map { $0["sha256"]?.text } == [proxy])
      #expect(before.map { $0["status"]?.text } == ["present"])

      try await rebuild(asset, before, scene)
      try await damage(asset, proxy, scene)
      #expect(try await scene.broker.command(["delete", BytePath(asset), "--force"]).code == 0)
      _ = try await scene.broker.wait("show", BytePath(asset)) { _ in
        (try? scene.objects().isEmpty) == true
      }
    }
  }

  /// The library alone has the renditions too.
  private func rebuild(_ asset: String, _ before: [JSONValue], _ scene: Scene) async throws {
    #expect(try await scene.broker.command(["fsck"]).code == 0)
    await scene.broker.end(SIGTERM)
    #expect(try await scene.broker.command(["gc", "--older-than", "0s"]).code == 0)
    #expect(try await scene.broker.command(["rebuild", "--force", "--verify"]).code == 0)
    #expect(try await Self.renditions(of: asset, scene) == before)
    try await scene.broker.start()
    #expect(try scene.objects().count == 2)
  }

  /// A damaged one is found, and given to nobody.
  private func damage(_ asset: String, _ proxy: String, _ scene: Scene) async throws {
    let object = scene.object(proxy)
    #expect(chmod(object.nulTerminated, 0o644) == 0)
    let file = try FileDescriptor.open(object, O_WRONLY)
    try file.write(Array("damage".utf8))
    try file.close()
    #expect(try await scene.broker.command(["fsck"]).code == 1)
    #expect(try await Self.renditions(of: asset, scene).first?["status"]?.text == "damaged")
    // The maker's success went with the ledger.
    let maker = try await scene.send(asset, to: "maker", "bare")
    let posted = try await scene.send(asset, to: "social", "take")
    try await scene.wait(maker, until: "succeeded")
    let refused = try await scene.wait(posted, until: "refused")
    #expect(refused["error"]?["code"]?.text == "asset_damaged")
    let mended = try await scene.send(asset, to: "maker", "make it")
    try await scene.wait(mended, until: "succeeded")
    #expect(try await Self.renditions(of: asset, scene).first?["status"]?.text == "present")
    try await scene.wait(try await scene.send(asset, to: "social", "take"), until: "succeeded")
  }

  @Test("what would wait in vain is refused at once, and what waited in vain has its reason")
  func dependencies() async throws {
    let destinations =
      RenditionPlugin.destination("maker", "make")
      + RenditionPlugin.destination("social", "take", Self.waits)
    try await RenditionPlugin.run([], destinations) { scene in
      let asset = try await scene.asset(1)
      let name = BytePath(asset)
      for more in [["--dry-run"], []] as [[BytePath]] {
        let ended = try await scene.broker.command(["send", name, "--to", "social"] + more)
        #expect(ended.code == 4)
        #expect(ended.errors.contains("dependency_failed") || more.count == 1)
        #expect(ended.errors.contains("maker"))
      }
      let both: [BytePath] = ["send", name, "--to", "social", "--to", "maker"]
      let dry = try await scene.broker.command(both + ["--dry-run", "--json"])
      #expect(String(decoding: dry.output, as: UTF8.self).contains("\"after\""))
      #expect(try await scene.broker.json("handoffs").elements.isEmpty)

      let sent = try await scene.broker.command(both + ["--title", "hold fail", "--json"])
      try #require(sent.code == 0, "\(sent.errors)")
      let made = try WireCoder.decode(JSONValue.self, from: sent.output, limit: .max).elements
      #expect(made.compactMap { $0["destination"]?.text } == ["maker", "social"])
      let social = BytePath(try made[1].text(of: "id"))
      #expect(made[1]["waiting"]?["reason"]?.text == "after")
      let go = scene.broker.root.appending("state/work/maker/go")
      try DurableFile.write([], to: go)
      let failed = try await scene.wait(social, until: "failed")
      #expect(failed["error"]?["code"]?.text == "dependency_failed")
      #expect(failed["error"]?["side"]?.text == "broker")
      #expect(failed["error"]?["effect"]?.text == "none")
      #expect(failed["error"]?["message"]?.text?.contains("auth: who are you?") == true)
      let maker = try made[0].text(of: "id")
      #expect(failed["error"]?["remedy"]?.text?.contains("handoff retry \(maker)") == true)
      #expect(try await scene.broker.command(["retry", social]).code == 4)

      // Those that it waits for succeed, and what it is to be given is never made.
      let bare = try await scene.send(asset, to: "maker", "bare")
      try await scene.wait(bare, until: "succeeded")
      let missing = try await scene.broker.command(["send", name, "--to", "social"])
      #expect(missing.code == 4)
      #expect(missing.errors.contains("no rendition proxy"))
    }
  }

  @Test("a ProRes master's poster and proxy from the preview plugin go to who uses them")
  func preview() async throws {
    let destinations =
      """
      [destination.preview]
      transport = "plugin"
      command = ["handoff-preview"]
      containment = "none"
      write = ["preview"]
      [destination.preview.settings]
      folder = "./preview"
      nice = 0

      """ + RenditionPlugin.destination("cards", "take", "after = [\"preview\"]\nuse = \"poster\"")
      + RenditionPlugin.destination("social", "take", "after = [\"preview\"]\nuse = \"proxy\"")
    try await RenditionPlugin.run(["preview", "cards", "social"], destinations) { scene in
      let master = scene.broker.root.appending("master.mov")
      try await Self.makeMaster(master)
      let bytes = try FileDescriptor.open(master, O_RDONLY).readAll(limit: 1 << 24)
      try scene.place(bytes, as: "clip.mov")
      let asset = try await scene.identifier(of: "clip.mov")
      let preview = try await scene.handoff(of: asset, to: "preview", is: "succeeded")
      for (user, made, name) in [
        ("cards", "poster", "clip.jpg"), ("social", "proxy", "clip.mp4"),
      ] {
        let given = try await scene.handoff(of: asset, to: user, is: "succeeded")
        let file = BytePath(try #require(preview["output"]?[made]?.text))
        #expect(given["output"]?["sha256"]?.text == (try Self.digest(of: file)))
        #expect(given["output"]?["name"]?.text == name)
      }
      let proxy = BytePath(try #require(preview["output"]?["proxy"]?.text))
      let start = try FileDescriptor.open(proxy, O_RDONLY).readAll(limit: 1 << 24)
      #expect(Self.holds(start, "avc1") && !Self.holds(start, "apcn"))
      #expect(Self.holds(bytes, "apcn"))
    }
  }

  /// ProRes 422, half a second.
  private static func makeMaster(_ path: BytePath) async throws {
    let arguments =
      "-nostdin -v error -f lavfi -i testsrc=s=320x240:d=0.5 -c:v prores_ks -profile:v 2"
    let process = try await SpawnedProcess.spawn(
      ProcessCommand(
        "/usr/bin/ffmpeg",
        arguments: arguments.split(separator: " ").map { BytePath(String($0)) } + [path],
        environment: ["LC_ALL=C"]
      )
    )
    #expect(await process.exit() == .exited(0))
  }

  private static func holds(_ bytes: [UInt8], _ text: String) -> Bool {
    bytes.firstRange(of: Array(text.utf8)) != nil
  }

  private static func renditions(of asset: String, _ scene: Scene) async throws -> [JSONValue] {
    try await scene.asset(asset)["renditions"]?.elements ?? []
  }

  private static func digest(of path: BytePath) throws -> String {
    try SHA256.digest(of: FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 24)).hexDigits
  }
}
