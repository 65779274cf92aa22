import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Files that are not whole yet.
@Suite("Cases: growing files")
struct GrowingCases {
  @Test("Case 1: a slow export is not taken while it grows", .timeLimit(.minutes(2)))
  func slow() async throws {
    let log = "receiver.log"
    try await Scene.run(Scene.configuration(), starting: false) { scene in
      let script = try scene.script("receive", "cat > /dev/null; echo done >> \"$1\"")
      let configuration = Scene.configuration(
        handoff: ["script"],
        destinations: """
          [destination.script]
          transport = "exec"
          command = ["\(script)", "\(scene.broker.root.appending(log).lossyText)"]
          containment = "none"
          """
      )
      try DurableFile.write(Array(configuration.utf8), to: scene.broker.config)
      try await scene.broker.start()
      let bytes = try await Scene.video(1)
      let file = try FileDescriptor.open(
        scene.exports.appending("a.mp4"),
        O_WRONLY | O_CREAT,
        mode: 0o644
      )
      let size = bytes.count / 10 + 1
      for (index, start) in stride(from: 0, to: bytes.count, by: size).enumerated() {
        try file.write(Array(bytes[start..<min(start + size, bytes.count)]))
        try await scene.staysAt(0, assetsFor: index == 5 ? Scene.quiet * 10 : Scene.quiet * 2)
        let why = try await scene.broker.json("why", scene.exports.appending("a.mp4"))
        #expect(["open_for_writing", "waiting_quiet"].contains(why["state"]?.text ?? ""))
      }
      #expect(try await scene.broker.json("handoffs").elements.isEmpty)
      #expect(try FileStatus.of(scene.broker.root.appending(log)) == nil)
      try file.close()
      try await scene.expectExactly(["a.mp4": bytes])
      let handoffs = try await scene.broker.wait("handoffs") { handoffs in
        handoffs.elements.allSatisfy { $0["status"]?.text == "succeeded" }
      }
      #expect(handoffs.elements.count == 1)
    }
  }

  @Test(
    "Case 10: a file that has its full size from the first moment is held",
    .timeLimit(.minutes(2)),
    arguments: ["fallocate -l", "truncate -s"]
  )
  func preallocated(command: String) async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let bytes = try await Scene.video(1)
      try await scene.sh("\(command) \(bytes.count) exports/p.mp4")
      let why = try await scene.file("p.mp4", is: "incomplete", "refused")
      #expect(why["reason"]?.text?.isEmpty == false)
      try await scene.staysAt(0, assetsFor: Scene.quiet * 8)
      try DurableFile.write(bytes, to: scene.broker.root.appending("whole"))
      try await scene.sh("dd if=whole of=exports/p.mp4 conv=notrunc status=none")
      try await scene.expectExactly(["p.mp4": bytes])
    }
  }

  @Test("Case 15: an interrupted MP4 is held, and a whole one taken", .timeLimit(.minutes(2)))
  func interrupted() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let bytes = try await Scene.video(1)
      try scene.write(Array(bytes[..<(bytes.count * 6 / 10)]), to: "t.mp4")
      let why = try await scene.file("t.mp4", is: "incomplete")
      #expect(why["reason"]?.text?.isEmpty == false)
      let failed = why["evidence"]?.elements.first { $0["passed"] == .bool(false) }
      #expect(failed?["since"]?.text != nil)
      try await scene.staysAt(0, assetsFor: Scene.quiet * 10)
      // No busy retry: it is said once.
      #expect(try scene.broker.wholeLog.split(separator: "t.mp4").count <= 3)
      try scene.write(bytes, to: "t.mp4")
      let front = try FileDescriptor.open(try await SampleVideo.faststart.path(), O_RDONLY)
      let inFront = try front.readAll(limit: 1 << 24)
      try scene.write(inFront, to: "front.mp4")
      try await scene.expectExactly(["t.mp4": bytes, "front.mp4": inFront])
    }
  }

  @Test("Case 52: an empty export waits for its content", .timeLimit(.minutes(2)))
  func empty() async throws {
    try await Scene.run(Scene.configuration()) { scene in
      for name in ["y.mp4", "z.mp4"] as [BytePath] {
        try scene.write([], to: name)
        let why = try await scene.file(name, is: "incomplete", "refused")
        #expect(why["reason"]?.text?.contains("empty") == true)
      }
      try await scene.staysAt(0, assetsFor: Scene.quiet * 10)
      let lines = try scene.broker.wholeLog.split(separator: "\n").filter { $0.contains("z.mp4") }
      #expect(lines.count <= 1, "one quiet entry")
      let bytes = try await Scene.video(1)
      try scene.write(bytes, to: "z.mp4")
      try await scene.expectExactly(["z.mp4": bytes])
    }
  }

  @Test(
    "Case 112: a second pass over a finished file is waited for; one that is killed is held",
    .timeLimit(.minutes(3)),
    arguments: [SIGCONT, SIGKILL]
  )
  func secondPass(signal: CInt) async throws {
    try await Scene.run(Scene.configuration()) { scene in
      let log = scene.broker.root.appending("ffmpeg.log")
      let path = scene.exports.appending("fs.mov")
      var command = ProcessCommand(
        "/usr/bin/env",
        arguments: [
          "ffmpeg", "-nostdin", "-v", "info", "-f", "lavfi", "-i",
          "testsrc=size=1280x720:rate=25:duration=16", "-c:v", "rawvideo", "-pix_fmt", "uyvy422",
          "-movflags", "+faststart", path,
        ],
        environment: [BytePath("PATH=\(environmentValue("PATH") ?? "/usr/bin")")]
      )
      command.descriptors[2] = try FileDescriptor.open(log, O_WRONLY | O_CREAT)
      let ffmpeg = try await SpawnedProcess.spawn(command)
      let began = try await poll(within: .seconds(90), every: .milliseconds(2)) { () -> Bool? in
        let said = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 20)
        return String(decoding: said, as: UTF8.self).contains("second pass") ? true : nil
      }
      kill(ffmpeg.id, SIGSTOP)
      #expect(began == true)
      try await scene.staysAt(0, assetsFor: Scene.quiet * 10)
      try await scene.file("fs.mov", is: "open_for_writing", "waiting_quiet")
      kill(ffmpeg.id, signal)
      let ended = await ffmpeg.exit()
      if signal == SIGCONT {
        #expect(ended == .exited(0))
        try await scene.untilImported("fs.mov")
        let whole = try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 31)
        try await scene.expectExactly(["fs.mov": whole])
      } else {
        try await scene.file("fs.mov", is: "incomplete", "refused")
        try await scene.staysAt(0, assetsFor: Scene.quiet * 10)
      }
    }
  }
}
