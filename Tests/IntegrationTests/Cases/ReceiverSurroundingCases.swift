import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a receiver is started with.
@Suite("Cases: what receivers are given", .timeLimit(.minutes(2)))
struct ReceiverSurroundingCases {
  private static let containments = ["require", "none"]

  @Test("Case 90: a receiver gets an environment of its own", arguments: containments)
  func environment(containment: String) async throws {
    let line = """
      cat >/dev/null; cd .; { env; echo "mask $(umask)"; echo "core $(ulimit -c)"; \
      echo "files $(ulimit -n)"; echo "here $(pwd)"; grep -E 'Sig(Blk|Ign)|NoNewPrivs' \
      /proc/self/status; } >$HANDOFF_WORK/seen
      """
    let environment = ["SECRET_X=1", "LD_PRELOAD=", "HOME=/root", "LANG=C", "GIVEN=yes"]
    try await HostileScene.run(environment: environment) { _ in
      HostileScene.shell("env", line, "containment = \"\(containment)\"\nenv = [\"GIVEN\"]")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      #expect(try await hostile.sendAndWait(asset, to: "env")["status"]?.text == "succeeded")
      let work = hostile.root.appending("state/work/env")
      let bytes = try FileDescriptor.open(work.appending("seen"), O_RDONLY).readAll(limit: 1 << 20)
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      let names = Set(lines.filter { $0.contains("=") }.map { $0.split(separator: "=")[0] })
      let expected: Set<Substring> = [
        "GIVEN", "HANDOFF_ASSETS", "HANDOFF_ASSET_1", "HANDOFF_DESTINATION", "HANDOFF_WORK", "HOME",
        "LANG", "PATH", "TMPDIR",
      ]
      // PWD and OLDPWD are the shell's own, `_` is env's.
      #expect(names.subtracting(["PWD", "OLDPWD", "_", "SHLVL"]) == expected, "\(lines)")
      for line in [
        "HOME=\(work.lossyText)", "here \(work.lossyText)", "mask 0022", "core 0", "files 4096",
        "SigBlk:\t0000000000000000", "NoNewPrivs:\t1",
      ] {
        #expect(lines.contains(line), "\(line) is not in \(lines)")
      }
      let ignored = lines.first { $0.hasPrefix("SigIgn:\t") }?.dropFirst("SigIgn:\t".count)
      // The C library keeps 32 and 33 for its threads, and has them ignored in what it starts.
      let signals = ignored.flatMap { UInt64($0, radix: 16) }
      #expect(signals.map { $0 & ~0x1_8000_0000 } == 0, "\(lines)")
    }
  }

  @Test("Case 91: a receiver inherits no open file, and keeps none of the broker's")
  func descriptors() async throws {
    let line = "cat >/dev/null; ls -l /proc/self/fd >$HANDOFF_WORK/seen; "
    try await HostileScene.run { _ in
      Self.containments.map {
        HostileScene.shell("x_\($0)", line, "containment = \"\($0)\"")
      }.joined()
        + HostileScene.shell(
          "sleeps",
          "echo $$ >$HANDOFF_WORK/pid; sleep 60",
          "containment = \"none\""
        )
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      try await hostile.begin(asset, to: "sleeps")
      let note = hostile.root.appending("state/work/sleeps/pid")
      let sleeping = try await poll { () -> Int32? in
        guard try FileStatus.of(note) != nil else { return nil }
        let bytes = try FileDescriptor.open(note, O_RDONLY).readAll(limit: 100)
        return Int32(String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? "")
      }
      for containment in Self.containments {
        let handoff = try await hostile.sendAndWait(asset, to: "x_\(containment)")
        #expect(handoff["status"]?.text == "succeeded")
        let path = hostile.root.appending("state/work/x_\(containment)/seen")
        let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 16)
        let text = String(decoding: bytes, as: UTF8.self)
        // 0, 1 and 2, and that of ls itself, which lists the folder.
        #expect(text.split(separator: "\n").count { $0.contains("->") } == 4, "\(text)")
      }
      // The new broker has its lock and its ledger at once, though a receiver of the old one lives.
      await hostile.broker.end(SIGKILL)
      let start = ContinuousClock.now
      try await hostile.broker.start()
      #expect(start.duration(to: .now) < .seconds(10))
      let pid = try #require(sleeping)
      #expect(kill(pid, SIGKILL) == 0, "the receiver that sleeps did not outlive the broker")
    }
  }

  @Test("Case 59: the characters of a shell in a name run nothing, and arrive as they are")
  func shellCharacters() async throws {
    let names: [BytePath] = [
      "$(touch PWNED).mp4", "a;id;.mp4", "it's (1) \"x\".mp4", "-rf.mp4", "--help.mp4", "%s%n.mp4",
      "{}.mp4", "`touch PWNED`.mp4",
    ]
    let line = "printf '%s\\n' \"${HANDOFF_ASSET_1##*/}\" >>$HANDOFF_WORK/names; exit 0"
    try await HostileScene.run { _ in
      HostileScene.shell("names", line, "concurrency = 1")
    } _: { hostile in
      for (number, name) in names.enumerated() {
        let path = hostile.root.appending("hand").appending(name)
        if number == 0 { try Directory.create(path.parent) }
        try DurableFile.write(try await Scene.video(UInt64(number)), to: path, permissions: 0o644)
        let asset = try await hostile.broker.json("import", path)
        let identifier = (asset.elements.first ?? asset)["local_identifier"]?.text
        let handoff = try await hostile.sendAndWait(try #require(identifier), to: "names")
        #expect(handoff["status"]?.text == "succeeded", "\(name): \(handoff)")
      }
      let path = hostile.root.appending("state/work/names/names")
      let text = String(
        decoding: try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 16),
        as: UTF8.self
      )
      #expect(text.split(separator: "\n").map { BytePath(String($0)) } == names)
      #expect(await shell("! find '\(hostile.root.lossyText)' -name PWNED | grep -q .") == 0)
    }
  }

  @Test("Case 49: a token is in no command line, environment, log, status or ledger")
  func token() async throws {
    let line = """
      read -r r; s=${r#*\\"state\\":\\"}; s=${s%%\\"*}; printf %s "$s" >$HANDOFF_WORK/token; \
      cat /proc/$$/cmdline /proc/$$/environ | tr '\\0' '\\n' >$HANDOFF_WORK/shown; \
      echo "$r" >&2; echo "$r"; exit 3
      """
    try await HostileScene.run { _ in
      HostileScene.shell("tells", line, "containment = \"none\"")
    } _: { hostile in
      let asset = try await hostile.importVideo(1)
      let handoff = try await hostile.sendAndWait(asset, to: "tells")
      let work = hostile.root.appending("state/work/tells")
      func text(_ path: BytePath) throws -> String {
        guard try FileStatus.of(path) != nil else { return "" }
        let bytes = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 28)
        return String(decoding: bytes, as: UTF8.self)
      }
      let token = try text(work.appending("token"))
      #expect(token.count > 40)
      let state = hostile.root.appending("state")
      var places = [
        "the handoff": "\(handoff)", "the log": try hostile.broker.wholeLog,
        "the status": "\(try await hostile.broker.json("status"))",
        "its process": try text(work.appending("shown")),
      ]
      for name in ["ledger.db", "ledger.db-wal", "ledger.head"] as [BytePath] {
        places[name.lossyText] = try text(state.appending(name))
      }
      for (place, text) in places { #expect(!text.contains(token), "in \(place)") }
      #expect("\(handoff)".contains("(state token)"))
      for name in ["ledger.key", "ledger.db"] as [BytePath] {
        let status = try #require(try FileStatus.of(state.appending(name)))
        #expect(status.permissions & 0o077 == 0, "\(name.lossyText)")
      }
    }
  }
}
