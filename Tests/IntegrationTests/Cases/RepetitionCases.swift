import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// One file gives one import, however often it is noticed and whatever its times say.
@Suite("Cases: repetition and times")
struct RepetitionCases {
  @Test("Case 2: many events of one export give one import", .timeLimit(.minutes(2)))
  func manyEvents() async throws {
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      let log = scene.broker.root.appending("receiver.log")
      let script = try scene.script("slow", "cat > /dev/null; sleep 2; echo done >> \"$1\"")
      let configuration = Scene.configuration(
        handoff: ["slow"],
        destinations: """
          [destination.slow]
          transport = "exec"
          command = ["\(script)", "\(log.lossyText)"]
          containment = "none"
          """
      )
      try DurableFile.write(Array(configuration.utf8), to: scene.broker.config)
      try await scene.broker.start()
      let bytes = try await Scene.video(1)
      let events = "touch exports/a.mp4; chmod 640 exports/a.mp4; : >> exports/a.mp4"
      try scene.write(bytes, to: "a.mp4")
      try await scene.sh(events)
      // Again while the receiver works, and with a listing of everything.
      try await scene.untilImported("a.mp4")
      try await scene.sh(events)
      await scene.broker.end(SIGTERM)
      try await scene.broker.start()
      try await scene.sh(events)
      let handoffs = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.contains { $0["status"]?.text == "succeeded" }
      }
      try await scene.staysAt(1, assetsFor: Scene.quiet * 10)
      try await scene.expectExactly(["a.mp4": bytes])
      #expect(handoffs.elements.count == 1)
      let work = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1000)
      #expect(String(decoding: work, as: UTF8.self) == "done\n")
      #expect(!(try scene.broker.wholeLog.contains(" ERROR ")))
    }
  }

  @Test("Case 53: a copy that keeps a time of years ago is new", .timeLimit(.minutes(2)))
  func oldTime() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let (first, second) = (try await Scene.video(1), try await Scene.video(2))
      for (name, bytes) in [("V.mp4", first), ("W.mp4", second)] {
        try DurableFile.write(bytes, to: scene.broker.root.appending(name))
      }
      try await scene.sh("touch -d 2011-01-01 V.mp4 W.mp4; cp -p V.mp4 exports/o.mp4")
      try await scene.untilImported("o.mp4")
      await scene.broker.end(SIGTERM)
      try await scene.sh("cp -p W.mp4 exports/p.mp4")
      try await scene.broker.start()
      try await scene.expectExactly(["o.mp4": first, "p.mp4": second])
    }
  }

  @Test(
    "Case 54: a time in the future, or before 1970, changes nothing",
    .timeLimit(.minutes(2)),
    arguments: ["2035-01-01", "1970-01-01 UTC", "1960-01-01"]
  )
  func oddTime(date: String) async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let bytes = try await Scene.video(1)
      try scene.write(bytes, to: "f.mp4")
      try await scene.sh("touch -d '\(date)' exports/f.mp4")
      try await scene.untilImported("f.mp4", within: .seconds(15))
      let before = try await scene.assets()
      let modified = try FileStatus.of(scene.exports.appending("f.mp4"))?.modified
      for _ in 0..<3 {
        await scene.broker.end(SIGTERM)
        try await scene.broker.start()
        try await scene.staysAt(1, assetsFor: Scene.quiet * 3)
      }
      #expect(try await scene.assets() == before)
      #expect(try FileStatus.of(scene.exports.appending("f.mp4"))?.modified == modified)
      #expect(try scene.broker.wholeLog.ranges(of: "Imported an export").count == 1)
    }
  }
}
