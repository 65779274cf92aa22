import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// How receivers begin and end, and what they leave behind.
@Suite("Cases: the lives of receivers", .timeLimit(.minutes(2)))
struct ReceiverLifeCases {
  @Test("Case 32: nobody is left uncollected after many short receivers")
  func zombies() async throws {
    try await HostileScene.run { _ in
      (1...3).map { HostileScene.shell("fast\($0)", "exit 0", "concurrency = 4") }.joined()
    } _: { hostile in
      let pid = try await hostile.brokerID
      let asset = try await hostile.importVideo(1)
      let before = try BrokerVitals(of: pid)
      for _ in 0..<10 {
        for number in 1...3 { try await hostile.begin(asset, to: "fast\(number)") }
      }
      _ = try await hostile.broker.wait("handoffs") { list in
        list.elements.count == 30 && list.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
      let after = try await BrokerVitals.settled(pid, to: before, within: .seconds(2))
      #expect(after.isBack(to: before), "\(before), then \(after)")
    }
  }

  @Test("Case 33: descriptors stay few, and where none is left the broker lives on")
  func descriptors() async throws {
    let prefix: [BytePath] = ["/bin/sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"]
    try await HostileScene.run(prefix: prefix) { _ in
      HostileScene.shell("ok", "exit 0", "concurrency = 4") + HostileScene.shell("fails", "exit 3")
        + HostileScene.shell("slow", "sleep 600", "idle = \"300ms\"\nconcurrency = 8")
          + """
          [destination.missing]
          transport = "exec"
          command = ["/nowhere/receiver"]

          """
    } _: { hostile in
      let pid = try await hostile.brokerID
      let asset = try await hostile.importVideo(1)
      _ = try await hostile.sendAndWait(asset, to: "ok")
      let before = try BrokerVitals(of: pid)
      for _ in 0..<8 {
        for name in ["ok", "ok", "fails", "slow"] { try await hostile.begin(asset, to: name) }
      }
      try await hostile.begin(asset, to: "missing")
      _ = try await hostile.broker.wait("handoffs") { list in
        list.elements.count { HostileScene.ends.contains($0["status"]?.text ?? "") } == 33
      }
      let after = try await BrokerVitals.settled(pid, to: before)
      #expect(abs(after.descriptors - before.descriptors) <= 3, "\(before), then \(after)")
      // None is left on purpose: what was to be started waits, and goes on once there are some again.
      try await Self.limitDescriptors(of: pid, to: after.descriptors + 2)
      try await hostile.begin(asset, to: "ok")
      let refused = try await poll(within: .seconds(10)) { () -> Bool? in
        try hostile.broker.wholeLog.contains("Too many open files") ? true : nil
      }
      try await Self.limitDescriptors(of: pid, to: 128)
      #expect(refused == true)
      let handoff = try await hostile.handoff(to: "ok", in: ["succeeded"])
      #expect(handoff["status"]?.text == "succeeded")
      #expect(try await hostile.brokerID == pid)
    }
  }

  private static func limitDescriptors(of pid: Int32, to count: Int) async throws {
    #expect(await shell("prlimit --pid \(pid) --nofile=\(count):128") == 0)
  }

  @Test("Case 34: a receiver that ignores SIGTERM is killed, and the next one starts in time")
  func ignoresTerm() async throws {
    try await HostileScene.run { _ in
      HostileScene.shell(
        "stubborn",
        "trap '' TERM; echo up; while :; do sleep 1; done",
        "idle = \"1s\"\nconcurrency = 1"
      ) + HostileScene.shell("quick", "exit 0")
    } _: { hostile in
      let pid = try await hostile.brokerID
      let asset = try await hostile.importVideo(1)
      _ = try await hostile.sendAndWait(asset, to: "quick")
      let before = try BrokerVitals(of: pid)
      let start = ContinuousClock.now
      try await hostile.begin(asset, to: "stubborn")
      #expect(try await hostile.sendAndWait(asset, to: "quick")["status"]?.text == "succeeded")
      #expect(start.duration(to: .now) < .seconds(5))
      let handoff = try await hostile.handoff(to: "stubborn", in: HostileScene.ends)
      // Idle, the grace of 5 seconds, and what a slow machine takes.
      #expect(start.duration(to: .now) < .seconds(9))
      #expect(handoff["error"]?["code"]?.text == "receiver_timeout", "\(handoff)")
      let after = try await BrokerVitals.settled(pid, to: before)
      #expect(after.isBack(to: before), "\(before), then \(after)")
    }
  }

  @Test("Case 36: a receiver that does not read its request harms nobody")
  func unread() async throws {
    try await HostileScene.run { _ in
      HostileScene.shell("deaf", "exit 3", "concurrency = 4")
    } _: { hostile in
      let pid = try await hostile.brokerID
      let asset = try await hostile.importVideo(1)
      for _ in 0..<20 { try await hostile.begin(asset, to: "deaf") }
      let list = try await hostile.broker.wait("handoffs") { list in
        list.elements.count { $0["status"]?.text == "outcome_unknown" } == 20
      }
      for handoff in list.elements {
        let message = handoff["error"]?["message"]?.text ?? ""
        #expect(
          message == "exit code 3; it printed nothing and left the request unread",
          "\(message)"
        )
      }
      #expect(try await hostile.brokerID == pid)
    }
  }

  @Test("Case 45: a destination that fails and one that hangs hold nobody back")
  func neighbours() async throws {
    try await HostileScene.run { hostile in
      let mended = hostile.root.appending("mended").lossyText
      return HostileScene.shell(
        "archive",
        "test -e \(mended) && exit 0; exit 1",
        "containment = \"none\""
      ) + HostileScene.shell("social", "echo once >>$HANDOFF_WORK/done")
        + HostileScene.shell("preview", "sleep 600", "idle = \"2s\"")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      try await hostile.begin(asset, to: "preview")
      try await hostile.begin(asset, to: "archive")
      let start = ContinuousClock.now
      let social = try await hostile.sendAndWait(asset, to: "social")
      #expect(start.duration(to: .now) < .seconds(3))
      #expect(social["status"]?.text == "succeeded")
      let archive = try await hostile.handoff(to: "archive", in: ["outcome_unknown"])
      let preview = try await hostile.handoff(to: "preview", in: ["outcome_unknown"])
      #expect(preview["error"]?["code"]?.text == "receiver_timeout")
      try await hostile.scene.sh("touch mended")
      let id = try archive.text(of: "id")
      _ = try await hostile.broker.json("retry", BytePath(id))
      _ = try await hostile.handoff(to: "archive", in: ["succeeded"])
      let done = hostile.root.appending("state/work/social/done")
      #expect(try FileDescriptor.open(done, O_RDONLY).readAll(limit: 100) == Array("once\n".utf8))
    }
  }
}
