import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive on a remote: names and manifests", .timeLimit(.minutes(2)))
struct ArchiveRemoteNameTests {
  @Test("names that mean something to rclone or a shell are names")
  func hostileNames() async throws {
    let scratch = try Scratch()
    let plugin = try scratch.remoteArchive(["layout": .string("{title}")])
    let names: [BytePath] = [
      "-v: {a,b}*?[c] .mp4", ":local:$(touch x);*\u{301}\\.mp4", " --config=Certificate.mp4",
      BytePath(Array("caf".utf8) + [0xE9] + Array(".mp4".utf8)),
    ]
    try await plugin.run { broker, _ in
      for (index, name) in names.enumerated() {
        let file = try Granted(.pattern(UInt8(index), count: 1000), named: name, in: scratch)
        broker.grant(file.identifier, file.asset)
        for id in index == 1 ? ["h", "i"] : ["h"] {
          let title = index % 2 == 0 ? "--x:{*}" : "../..:\n"
          let _: SubmitAnswer = try await broker.ask(
            .submit,
            handoff("\(id)\(index)", [file.identifier], title: title)
          )
          let outcome = try await broker.nextResult().outcome
          #expect(outcome.output?["sha256"]?.text == file.asset.sha256.hex, "\(name) \(outcome)")
        }
      }
    }
    let files = try scratch.files()
    #expect(Set(files.map(\.components.first)) == ["--x:{*}", "_._..:_"])
    #expect(files.count == names.count + 2, "\(files)")
    for folder in ["--x:{*}", "_._..:_"] {
      let check = "sha256sum --check --strict SHA256SUMS"
      let status = try await runProgram(
        "/bin/sh",
        ["-c", BytePath(check)],
        in: scratch.out.appending(BytePath(folder)),
        output: scratch.path.appending("sha256sum.txt")
      )
      #expect(status == .exited(0))
    }
  }

  @Test("a remote that can neither rename nor write a file at once is refused")
  func notAtOnce() async throws {
    let scratch = try Scratch()
    let text = """
      case "$*" in *features*) rclone "$@" | sed 's/"Move": true/"Move": false/'; exit;; esac
      exec rclone "$@"
      """
    let plugin = try scratch.remoteArchive(["rclone": try scratch.program(text)])
    let file = try Granted(.pattern(7, count: 3000), named: "clip.mp4", in: scratch)
    let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.code == .notConfigured, "\(outcome)")
    #expect(try scratch.files().isEmpty)
  }

  @Test("lines of somebody else stay in the manifest, but for one of a name that was given anew")
  func foreignManifest() async throws {
    let scratch = try Scratch()
    let plugin = try scratch.remoteArchive()
    let digest = String(repeating: "0", count: 64)
    let manifest = scratch.out.appending("a/SHA256SUMS")
    try Directory.create(manifest.parent)
    let before = "a note\r\n\(digest)  clip.mp4\n\(digest)  other.mp4"
    try DurableFile.write(Array(before.utf8), to: manifest)
    let file = try Granted(.pattern(1, count: 1000), named: "clip.mp4", in: scratch)
    for id in ["a", "b"] {
      let submitted = handoff(id, [file.identifier])
      #expect(try await plugin.deliver(submitted, file.grants).failure == nil)
    }
    let after = try FileDescriptor.open(manifest, O_RDONLY).readAll(limit: 1000)
    let hex = file.asset.sha256.hex
    #expect(
      String(decoding: after, as: UTF8.self)
        == "a note\r\n\(digest)  other.mp4\n\(hex)  clip.mp4\n"
    )
  }
}
