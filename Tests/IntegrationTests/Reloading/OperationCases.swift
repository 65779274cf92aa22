import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Folders that come late, names that forge lines, and limits of the machine.
@Suite("Cases: operation")
struct OperationCases {
  @Test(
    "Case 28: a folder that comes late, and a disk that comes, goes and comes again",
    .timeLimit(.minutes(2))
  )
  func comesLate() async throws {
    guard await Mounts.areAllowed(for: "case 28") else { return }
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      try await scene.sh("rmdir exports")
      try await scene.broker.start()
      func becomes(_ mode: String) async throws {
        _ = try await scene.broker.wait("status") { status in
          status["folders"]?.elements.first?["mode"]?.text == mode
        }
      }
      try await becomes("offline")
      try await scene.sh("mkdir exports")
      try await becomes("events")
      try scene.write(try await Scene.video(1), to: "1.mp4")
      _ = try await scene.identifier(of: "1.mp4")
      for number in [2, 3] {
        try await scene.sh("mount -t tmpfs none exports")
        do {
          let name = BytePath("\(number).mp4")
          try scene.write(try await Scene.video(UInt64(number)), to: name)
          _ = try await scene.identifier(of: name)
        } catch {
          try await scene.sh("umount -l exports")
          throw error
        }
        try await scene.sh("umount exports")
      }
      let assets = try await scene.assets()
      #expect(assets.count == 3)
      #expect(assets.allSatisfy { $0["sources"]?.elements.count == 1 })
      #expect(assets.allSatisfy { $0["status"]?.text == "present" })
    }
  }

  private static let names: [BytePath] = [
    "a\n[ERROR] fake line\tx\u{1B}[31m.mp4", "line\u{2028}separator.mp4", "next\u{85}line.mp4",
    "bidi \u{202E}4pm.mp4",
  ]

  @Test(
    "Case 61: no name forges a line of the log, of a request or of the terminal",
    .timeLimit(.minutes(2))
  )
  func forged() async throws {
    try await Scene.run("", starting: false) { scene in
      let script = try scene.script("lines", "wc -l >> '\(scene.root)/counted'")
      let text = Scene.configuration(
        folder: "give_up = \"1s\"",
        handoff: ["lines"],
        destinations: Scene.exec("lines", script)
      )
      try scene.configure(text)
      try await scene.broker.start()
      for (number, name) in Self.names.enumerated() {
        try scene.write(try await Scene.video(UInt64(number)), to: name)
        // One of each name that stays listed: no video at all.
        try scene.write(Array("no video".utf8), to: BytePath("bad \(name.lossyText)"))
      }
      try await scene.succeeded(Self.names.count)
      let counted = try String(contentsOf: scene.broker.root.appending("counted"))
      #expect(counted.split(separator: "\n").allSatisfy { Int($0.trimmed) == 1 })
      let lines = try scene.broker.wholeLog.split(separator: "\n")
      #expect(lines.allSatisfy { $0.first?.isNumber == true || !$0.hasPrefix("[ERROR]") })
      let status = try await scene.broker.command(["status"])
      let shown = String(decoding: status.output, as: UTF8.self)
      #expect(shown.contains("fake line"))
      for said in [try scene.broker.wholeLog, shown] {
        let raw = said.unicodeScalars.filter { scalar in
          scalar != "\n" && (scalar.value < 32 || [0x85, 0x2028, 0x202E].contains(scalar.value))
        }
        #expect(raw.isEmpty, "\(raw.map(\.value))")
      }
    }
  }

  @Test(
    "Case 107: without an inotify instance the limit is named, and folders are polled",
    .timeLimit(.minutes(2))
  )
  func noInstance() async throws {
    guard await shell("unshare --user --map-root-user true") == 0 else {
      return print("skipped: no user namespace can be had")
    }
    let line = "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$0\" \"$@\""
    let prefix: [BytePath] = [
      "/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c", BytePath(line),
    ]
    let text = Scene.configuration(folder: "poll_interval = \"500ms\"")
    try await Scene.run(text, prefix: prefix) { scene in
      let status = try await scene.broker.wait("status") { status in
        status["folders"]?.elements.first?["mode"]?.text == "poll"
      }
      let why = status["folders"]?.elements.first?["degraded"]?.text
      #expect(why?.contains("fs.inotify.max_user_instances") == true)
      #expect(try scene.broker.wholeLog.contains("max_user_instances"))
      try scene.write(try await Scene.video(1), to: "1.mp4")
      _ = try await scene.identifier(of: "1.mp4")
    }
  }

  @Test("Case 107: one inotify instance serves all folders", .timeLimit(.minutes(1)))
  func oneInstance() async throws {
    let text = Scene.configuration() + "\n[[drop_folder]]\npath = \"more\"\nquiet = \"100ms\"\n"
    try await Scene.run(text, starting: false) { scene in
      try await scene.sh("mkdir -p exports/a exports/b more/c")
      try await scene.broker.start()
      let broker = try #require(scene.broker.processID)
      try await scene.sh("ls -l /proc/\(broker)/fd | grep -c inotify > instances")
      let count = try String(contentsOf: scene.broker.root.appending("instances"))
      #expect(count.trimmed == "1")
    }
  }
}

extension StringProtocol {
  fileprivate var trimmed: String {
    String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
  }
}
