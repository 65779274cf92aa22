import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Configurations that are wrong, at a start and while the broker runs.
@Suite("Cases: configuration")
struct ConfigurationCases {
  @Test("Case 101: a bad edit changes nothing, and a right one is taken", .timeLimit(.minutes(2)))
  func badEdits() async throws {
    try await Scene.run("", starting: false) { scene in
      let good = Scene.configuration(handoff: ["slow"], destinations: Scene.held)
      try scene.configure(good)
      try await scene.broker.start()
      let gate = try Gate("slow", scene)
      try scene.write(try await Scene.video(1), to: "1.mp4")
      try scene.write(try await Scene.video(2), to: "2.mp4")
      _ = try await scene.broker.wait("handoffs") { handoffs in
        Set(handoffs.elements.compactMap { $0["status"]?.text }) == ["pending", "submitted"]
      }
      let loaded = try await scene.config(becomes: "current")
      let bad: [(what: String, text: String?, place: String)] = [
        ("broken syntax", good + "\n[destination.x\n", "handoff.toml:"),
        ("a wrong type", good.replacing("\"100ms\"", with: "5"), "handoff.toml:10:"),
        (
          "a folder that is not there",
          good + "\n[[drop_folder]]\npath = \"nowhere\"\n", "nowhere is not there"
        ),
        ("a missing file", nil, "handoff.toml:1:1:"),
      ]
      for (what, text, place) in bad {
        let known = try scene.broker.wholeLog.ranges(of: "was not reloaded").count
        if let text { try scene.configure(text) } else { unlink(scene.broker.config.nulTerminated) }
        try scene.broker.signal(SIGHUP)
        let told = try await poll(within: .seconds(20)) {
          let log = try scene.broker.wholeLog
          return log.ranges(of: "was not reloaded").count > known ? log : nil
        }
        let lines = try #require(told, "\(what)").split(separator: "\n")
        let line = lines.last { $0.contains("was not reloaded") }
        #expect(line?.contains(place) == true, "\(what): \(line ?? "")")
        // The command line finds the broker although the file is no configuration.
        let config = try await scene.config(becomes: "rejected")
        #expect(config["loaded_at"]?.text == loaded["loaded_at"]?.text, "\(what)")
        #expect(config["problems"]?.elements.isEmpty == false, "\(what)")
        let people = try await scene.broker.command(["status"])
        #expect(String(decoding: people.output, as: UTF8.self).contains("config: rejected"))
        let names = try await scene.broker.json("status")["destinations"]?.elements
          .compactMap { $0["name"]?.text }
        #expect(names == ["quick", "slow"], "\(what)")
      }
      try await removed(scene, gate)
      try await scene.reload(good)
      _ = try await scene.config(becomes: "current")
      try gate.pass()
      let ended = try await scene.broker.wait("handoffs") { handoffs in
        Set(handoffs.elements.compactMap { $0["status"]?.text }) == ["succeeded"]
      }
      #expect(ended.elements.count == 2)
      #expect(ended.elements.allSatisfy { $0["attempts"]?.integer == 1 })
    }
  }

  /// The destination goes while one of its handoffs runs, and another waits.
  private func removed(_ scene: Scene, _ gate: Gate) async throws {
    try scene.configure(
      Scene.configuration(destinations: Scene.exec("quick", "/bin/true"))
    )
    try scene.broker.signal(SIGHUP)
    _ = try await scene.broker.wait("status") { status in
      status["needs_person"]?.elements.contains {
        $0["waiting"]?["reason"]?.text == "destination_unknown"
      } == true
    }
    try gate.pass()
    let handoffs = try await scene.broker.wait("handoffs") { handoffs in
      Set(handoffs.elements.compactMap { $0["status"]?.text }) == ["pending", "succeeded"]
    }.elements
    let pending = try #require(handoffs.first { $0["status"]?.text == "pending" })
    #expect(pending["waiting"]?["reason"]?.text == "destination_unknown")
    // It asks after the one that runs, and so comes after its end.
    let report = try await scene.broker.json("reload")
    #expect(report["changes"]?.elements.isEmpty == true)
    let log = try scene.broker.wholeLog
    #expect(log.contains("remove destination slow"))
    #expect(log.contains("orphan handoff"))
  }

  @Test("Case 101: a file that may not be read is refused by a running broker")
  func unreadable() async throws {
    guard getuid() == 0 else { return print("skipped: only root can become somebody else") }
    let text = Scene.configuration()
    let prefix: [BytePath] = [
      "/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
    ]
    try await Scene.run(text, starting: false, prefix: prefix) { scene in
      try await scene.sh("chown -R 65534:65534 . && chmod 755 .")
      try await scene.broker.start()
      try await scene.sh("chown 0:0 handoff.toml && chmod 600 handoff.toml")
      try scene.broker.signal(SIGHUP)
      let config = try await scene.config(becomes: "rejected")
      #expect(config["problems"]?.elements.first?.text?.contains("handoff.toml:1:1:") == true)
      try await scene.sh("chmod 644 handoff.toml")
      try scene.broker.signal(SIGHUP)
      _ = try await scene.config(becomes: "current")
    }
  }

  @Test(
    "Case 102: every misspelt key and wrong value is told with its place",
    .timeLimit(.minutes(1))
  )
  func misspelt() async throws {
    let text = """
      [broker]
      state = "state"
      listen = ""
      [library]
      Path = "library"
      [[drop_folder]]
      path = "exports"
      quietSecconds = 30
      quiet = 5
      give_up = "-1s"
      poll_interval = "5"
      [[drop_folder]]
      path = "exports"
      [destination.one]
      transport = "exec"
      command = ["/bin/true"]
      concurrency = "5"
      idle = "5 parsecs"
      """
    try await Scene.run(text, starting: false) { scene in
      let checked = try await scene.broker.command(["check"])
      #expect(checked.code == 2)
      let wanted = [
        "handoff.toml:5:1: ", "did you mean path", "handoff.toml:8:1: ",
        "handoff.toml:9:", "handoff.toml:10:", "handoff.toml:11:", "is a drop folder already",
        "handoff.toml:17:", "handoff.toml:18:",
      ]
      for place in wanted { #expect(checked.errors.contains(place), "\(place): \(checked.errors)") }
      let served = try await scene.broker.command(["serve"])
      #expect(served.code == 2)
      for place in wanted { #expect(served.errors.contains(place), "\(place)") }
      // A key that is given twice is no TOML.
      try scene.configure("[broker]\nstate = \"a\"\nstate = \"b\"\n")
      let twice = try await scene.broker.command(["check"])
      #expect(twice.code == 2)
      #expect(twice.errors.contains("handoff.toml:3:"))
      try scene.configure(Scene.configuration())
      let printed = try await scene.broker.command(["check", "--print"])
      let lines = String(decoding: printed.output, as: UTF8.self).split(separator: "\n")
      #expect(lines.contains("quiet = \"100ms\"  # line 10"))
      #expect(lines.contains { $0.hasPrefix("give_up = ") && $0.hasSuffix("# default") })
    }
  }

  @Test(
    "Case 29: an output inside a drop folder, or the other way round, is refused with both paths",
    .timeLimit(.minutes(1))
  )
  func overlaps() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await scene.sh(
        "mkdir -p exports/store exports/preview real && ln -s ../exports real/link"
      )
      let plain = Scene.configuration()
      let library = "path = \"library\""
      let exports = scene.exports.lossyText
      let cases: [(String, [String])] = [
        (
          plain.replacing(library, with: "path = \"exports/store\""),
          ["\(exports)/store", "(\(exports))"]
        ),
        (plain.replacing(library, with: "path = \".\""), ["(\(exports))", "(\(scene.root))"]),
        (
          plain.replacing(library, with: "path = \"real/link/store\""),
          ["\(exports)/store", "(\(exports))"]
        ),
        (
          plain + Scene.exec("preview", "/bin/true", "write = [\"real/link/preview\"]"),
          ["\(exports)/preview", "(\(exports))"]
        ),
      ]
      func check(_ words: [BytePath], _ paths: [String]) async throws {
        let ended = try await scene.broker.command(words)
        #expect(ended.code == 2, "\(words)")
        for path in paths { #expect(ended.errors.contains(path), "\(words): \(ended.errors)") }
      }
      for (text, paths) in cases {
        try scene.configure(text)
        try await check(["check"], paths)
        try await check(["serve"], paths)
      }
      try scene.configure(plain)
      try await scene.broker.start()
      for (text, paths) in cases {
        try scene.configure(text)
        try await check(["reload"], paths)
      }
      try scene.write(try await Scene.video(1), to: "1.mp4")
      _ = try await scene.identifier(of: "1.mp4")
    }
  }
}
