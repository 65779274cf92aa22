import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A file system of the ledger that is full for a while.
@Suite("A full disk under the ledger", .timeLimit(.minutes(3)))
struct FullLedgerTests {
  @Test("what an exec receiver has said is recorded once there is room again, without a restart")
  func result() async throws {
    guard await Mounts.areAllowed(for: "a full disk under the ledger") else { return }
    let text = Scene.configuration(
      handoff: ["held"],
      destinations: """
        [destination.held]
        transport = "exec"
        command = ["/bin/sh", "-c", "read -r line < ../../../gate"]
        containment = "none"
        """
    )
    try await Scene.run(text, starting: false) { scene in
      try await Mounts.run(scene, [("-t tmpfs -o size=40m tmpfs", "state")]) {
        try await scene.broker.start()
        // Not in the state folder, which is to be unmounted.
        try await scene.sh("mkfifo gate")
        try scene.write(try await Scene.video(1), to: "a.mp4")
        _ = try await scene.broker.wait("handoffs") {
          $0.elements.first?["status"]?.text == "submitted"
        }
        try await scene.sh("dd if=/dev/zero of=state/fill bs=4k 2> /dev/null; test -s state/fill")
        try await scene.sh("echo > gate")
        let waits = try await poll {
          try scene.broker.wholeLog.contains("waits to be recorded") ? true : nil
        }
        #expect(waits == true)
        #expect(
          try await scene.broker.json("handoffs").elements.first?["status"]?.text == "submitted"
        )
        try await scene.sh("rm state/fill")
        _ = try await scene.broker.wait("handoffs") {
          $0.elements.first?["status"]?.text == "succeeded"
        }
      }
    }
  }
}
