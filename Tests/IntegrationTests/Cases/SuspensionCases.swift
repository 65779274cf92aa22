import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A machine that was suspended: CLOCK_BOOTTIME has counted that time, CLOCK_MONOTONIC has not.
///
/// A test cannot suspend its machine. In a time namespace (time_namespaces(7)) the two clocks stand as they
/// do after a suspension of eleven days, for the broker and for the kernel's timers alike.
@Suite("Cases: a suspended machine")
struct SuspensionCases {
  private static let asleep: Int64 = 1_000_000

  @Test(
    "86: deadlines follow the clock that counts suspension, and so do the timers that wait for them",
    .timeLimit(.minutes(2))
  )
  func bootTime() async throws {
    guard await shell("unshare -T --fork --boottime 5 true 2>/dev/null") == 0 else {
      print("skipped: no time namespaces for this user")
      return
    }
    let configuration = Scene.configuration(
      destinations: """
        [destination.slow]
        transport = "exec"
        command = ["/bin/sleep", "600"]
        concurrency = 1
        """
    )
    let prefix = ["unshare", "-T", "--fork", "--kill-child", "--boottime", "\(Self.asleep)"]
    try await Scene.run(
      configuration,
      prefix: [BytePath("/usr/bin/env")] + prefix.map { BytePath($0) }
    ) {
      scene in
      try scene.write(try await Scene.video(1), to: "a.mp4")
      let asset = BytePath(try await scene.identifier(of: "a.mp4"))
      // The first is sent and goes on; the second waits for its place until its time is over.
      _ = try await scene.broker.json("send", asset, "--to", "slow")
      let second = try await scene.broker.json(
        "send",
        asset,
        "--to",
        "slow",
        "--again",
        "--expires-in",
        "1s"
      )
      let id = try (second.elements.first ?? second).text(of: "id")
      _ = try await scene.broker.wait("show", BytePath(id)) { $0["status"]?.text == "expired" }

      // The note by which the ledger tells a clock that was set: wall clock less boot clock.
      try await scene.sh(
        "sqlite3 state/ledger.db \"SELECT value FROM meta WHERE name = 'clock'\" > note"
      )
      let note = try scene.text("note").split(separator: " ").first.flatMap { Int64($0) }
      try await scene.sh("date +%s > wall; cut -d. -f1 /proc/uptime > uptime")
      let wall = try #require(Int64(try scene.text("wall")))
      let uptime = try #require(Int64(try scene.text("uptime")))
      let expected = wall - uptime - Self.asleep
      #expect(abs((note ?? 0) / 1000 - expected) < 60)
    }
  }
}

extension Scene {
  /// What a file of the scene's folder says, without the line's end.
  fileprivate func text(_ name: BytePath) throws -> String {
    let bytes = try FileDescriptor.open(broker.root.appending(name), O_RDONLY)
      .readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).filter { !$0.isNewline }
  }
}
