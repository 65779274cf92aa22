import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A ledger that lies badly, is full, or is broken.
@Suite("Cases: the ledger", .timeLimit(.minutes(5)))
struct LedgerCases {
  @Test("Case 48: a state folder on FUSE is refused with its kind named, and nothing is made there")
  func network() async throws {
    guard await Mounts.areAllowed(for: "a ledger on FUSE"), await shell("command -v bindfs") == 0
    else { return }
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await scene.sh("mkdir under state && chmod 700 state && bindfs under state")
      do {
        let refused = try await scene.broker.command(["serve"])
        #expect(refused.code == 1)
        #expect(refused.errors.contains("FUSE"), "\(refused.errors)")
        #expect(refused.errors.contains("use a local disk"))
        #expect(try Directory.entries(of: scene.broker.root.appending("under")).isEmpty)
      } catch {
        try await scene.sh("umount -l state")
        throw error
      }
      try await scene.sh("umount -l state")
    }
  }

  @Test("Case 79: on a full disk nothing is sent that is not recorded, and room is enough to go on")
  func full() async throws {
    guard await Mounts.areAllowed(for: "a full disk under the ledger") else { return }
    let text = Scene.configuration(
      handoff: ["held"],
      destinations: """
        [destination.held]
        transport = "exec"
        command = ["/bin/sh", "-c", "echo x >> ../../../received; read -r line < ../../../gate"]
        containment = "none"
        concurrency = 4
        """
    )
    try await Scene.run(text, starting: false) { scene in
      try await Mounts.run(scene, [("-t tmpfs -o size=4m tmpfs", "state")]) {
        try await scene.broker.start()
        try await scene.sh("mkfifo gate")
        try scene.place(try await Scene.video(1), as: "a.mp4")
        _ = try await scene.broker.wait("handoffs") {
          $0.elements.first?["status"]?.text == "submitted"
        }
        let sent = try await poll { try scene.received() == 1 ? true : nil }
        #expect(sent == true)
        try await scene.sh("dd if=/dev/zero of=state/fill bs=4k 2> /dev/null; test -s state/fill")
        try scene.place(try await Scene.video(2), as: "b.mp4")
        try await scene.sh("echo > gate")
        let place = scene.broker.root.appending("state").displayText
        let said = try await poll {
          let log = try scene.broker.wholeLog
          return log.contains("waits to be recorded") && log.contains("mounted at \(place) is full")
            ? true : nil
        }
        let end = try scene.broker.tail()
        #expect(said == true, "\(end)")
        #expect(try scene.received() == 1, "nothing is sent that is not recorded")
        try await scene.sh("rm state/fill")
        _ = try await scene.broker.wait("handoffs") { handoffs in
          handoffs.elements.count == 2 && handoffs.elements.last?["status"]?.text == "succeeded"
        }
        _ = try await poll { try scene.received() == 2 ? true : nil }
        try await scene.sh("echo > gate")
        _ = try await scene.broker.wait("handoffs") { handoffs in
          handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
        }
        #expect(try scene.received() == 2)
      }
    }
  }

  @Test(
    "Case 80: a damaged ledger stops the start, nothing is imported again, and a rebuild mends it",
    arguments: ["overwritten", "log deleted", "emptied"]
  )
  func damaged(how: String) async throws {
    try await Scene.withReceiver { scene in
      _ = try await scene.imported(1, as: "a.mp4")
      _ = try await scene.imported(2, as: "b.mp4")
      switch how {
      case "overwritten":
        await scene.broker.end(SIGTERM)
        try await scene.sh(
          "s=$(stat -c %s state/ledger.db); dd if=/dev/urandom of=state/ledger.db bs=4096 count=1 "
            + "seek=$((s / 8192)) conv=notrunc 2> /dev/null"
        )
      case "log deleted":
        await scene.broker.end(SIGKILL)
        try await scene.sh("rm state/ledger.db-wal")
      default:
        await scene.broker.end(SIGTERM)
        try await scene.sh(": > state/ledger.db")
      }
      try await scene.sh("sha256sum state/ledger.db state/ledger.key state/ledger.head > sums")
      for _ in 0..<2 {
        let refused = try await scene.broker.command(["serve"])
        #expect(refused.code == 1, "\(how)")
        #expect(refused.errors.contains("state/ledger.db"), "\(refused.errors)")
        #expect(refused.errors.contains("`handoff rebuild`"), "\(refused.errors)")
        try await scene.sh("sha256sum --quiet -c sums")
      }
      #expect(try await scene.broker.command(["rebuild"]).code == 0)
      try await scene.broker.start()
      _ = try await scene.imported(3, as: "c.mp4")
      #expect(try await scene.broker.json("assets").elements.count == 3)
      #expect(try scene.received() == 3)
    }
  }
}
