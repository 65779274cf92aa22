import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive", .timeLimit(.minutes(5)))
struct ArchiveTests {
  private func archive(_ scratch: Scratch, layout: String = "") -> PluginProcess {
    PluginProcess(
      name: "handoff-archive",
      settings: .object([
        "folder": .string(scratch.out.lossyText), "layout": .string(layout),
      ]),
      work: scratch.work
    )
  }

  private func isVerified(_ folder: BytePath, _ scratch: Scratch) async throws -> Bool {
    let status = try await runProgram(
      "/usr/bin/sha256sum",
      ["--check", "--strict", "SHA256SUMS"],
      in: folder,
      output: scratch.path.appending("sha256sum.txt")
    )
    return status == .exited(0)
  }

  @Test("every name survives, and sha256sum checks the manifest")
  func names() async throws {
    let scratch = try Scratch()
    let names: [BytePath] = [
      "clip.mp4", "te[s]t_ video ' _ .flv", "two\nlines.mp4", "back\\slash.mp4", "-", " lead.mp4",
      "$(touch x).mp4", BytePath(Array("latin-caf".utf8) + [0xE9] + Array(".mp4".utf8)),
      "caf\u{E9}.mp4", "cafe\u{301}.mp4", BytePath([UInt8](repeating: 0x61, count: 255)),
      "carriage\rreturn.mp4",
    ]
    let plugin = archive(scratch)
    try await plugin.run { broker, _ in
      for (index, name) in names.enumerated() {
        let file = try Granted(.pattern(UInt8(index), count: 1000), named: name, in: scratch)
        broker.grant(file.identifier, file.asset)
        let _: SubmitAnswer = try await broker.ask(
          .submit,
          handoff("h\(index)", [file.identifier])
        )
        let outcome = try await broker.nextResult().outcome
        #expect(outcome.output?["sha256"]?.text == file.asset.sha256.hex, "\(name)")
      }
    }
    #expect(try scratch.files() == Set(names + ["SHA256SUMS"]))
    #expect(try await isVerified(scratch.out, scratch))
  }

  @Test("other content of the same name gets a name with its digest; nothing is replaced")
  func collisions() async throws {
    let scratch = try Scratch()
    let plugin = archive(scratch)
    let name = BytePath([UInt8](repeating: 0x62, count: 251) + Array(".mp4".utf8))
    let first = try Granted(.pattern(1, count: 500), named: name, in: scratch)
    let second = try Granted(.pattern(2, count: 500), named: name, in: scratch)
    for (id, file) in [("a", first), ("b", second), ("c", first), ("d", second)] {
      let outcome = try await plugin.deliver(handoff(id, [file.identifier]), file.grants)
      #expect(outcome.output?["sha256"]?.text == file.asset.sha256.hex)
    }
    let files = try scratch.files()
    #expect(files.count == 3)
    #expect(files.contains(name))
    #expect(files.allSatisfy { $0.bytes.count <= 255 })
    let kept = try FileDescriptor.open(scratch.out.appending(name), O_RDONLY).readAll(limit: 1000)
    #expect(kept == .pattern(1, count: 500))
    #expect(try await isVerified(scratch.out, scratch))
  }

  @Test("granted bytes with another digest are damaged, and leave nothing")
  func damaged() async throws {
    let scratch = try Scratch()
    var file = try Granted(.pattern(1, count: 100_000), named: "a.mp4", in: scratch)
    let other = try Granted(.pattern(2, count: 100_000), named: "b.mp4", in: scratch)
    file.asset.sha256 = other.asset.sha256
    let outcome = try await archive(scratch).deliver(
      handoff("h", [file.identifier]),
      file.grants
    )
    #expect(outcome.failure?.code == .assetDamaged)
    #expect(outcome.failure?.effect == Effect.none)
    #expect(try scratch.files().isEmpty)
  }

  @Test("killed at every step and started again, it keeps exactly one whole copy")
  func crashes() async throws {
    var steps = 0
    for ordinal in stride(from: 1, through: 60, by: ArchiveScene.isThorough ? 1 : 2) {
      let scratch = try Scratch()
      let file = try Granted(.pattern(7, count: 300_000), named: "clip.mp4", in: scratch)
      let ended = try await archive(scratch).deliverOverCrashes(
        handoff("h", [file.identifier]),
        file.grants,
        faults: ["*:\(ordinal):kill"]
      )
      #expect(ended.outcome.output?["sha256"]?.text == file.asset.sha256.hex, "step \(ordinal)")
      #expect(try scratch.files() == ["clip.mp4", "SHA256SUMS"], "step \(ordinal)")
      #expect(try await isVerified(scratch.out, scratch), "step \(ordinal)")
      if ended.processes == 1 { break }
      steps = ordinal
    }
    #expect((5..<59).contains(steps))
  }

  @Test("a failing system call at any step fails without effect, and the next attempt succeeds")
  func failures() async throws {
    // The first is the sync behind its journal: without that it does not start.
    for ordinal in 2...60 {
      let scratch = try Scratch()
      let file = try Granted(.pattern(7, count: 300_000), named: "clip.mp4", in: scratch)
      let plugin = archive(scratch)
      let first = try await plugin.run(fault: "*:\(ordinal):errno=\(ENOSPC)") { broker, _ in
        broker.grant(file.identifier, file.asset)
        let answer: SubmitAnswer = try await broker.ask(.submit, handoff("h", [file.identifier]))
        if let error = answer.error { return HandoffResult.Outcome.failure(error) }
        return try await broker.nextResult().outcome
      }
      if let failure = first.failure {
        #expect(failure.effect == Effect.none, "step \(ordinal)")
        #expect(failure.retry == .later, "step \(ordinal)")
      }
      let again = try await plugin.deliver(handoff("h", [file.identifier], attempt: 2), file.grants)
      #expect(again.output?["sha256"]?.text == file.asset.sha256.hex, "step \(ordinal)")
      #expect(try scratch.files() == ["clip.mp4", "SHA256SUMS"], "step \(ordinal)")
      #expect(try await isVerified(scratch.out, scratch), "step \(ordinal)")
      if first.output != nil, ordinal > 12 { break }
    }
  }

  @Test("a manifest line that a crash left half written is cut off")
  func tornManifest() async throws {
    let scratch = try Scratch()
    let torn = Array("0123456789abcdef".utf8)
    try FileDescriptor.open(scratch.out.appending("SHA256SUMS"), O_WRONLY | O_CREAT).write(torn)
    let file = try Granted(.pattern(3, count: 10), named: "a.mp4", in: scratch)
    _ = try await archive(scratch).deliver(handoff("h", [file.identifier]), file.grants)
    #expect(try await isVerified(scratch.out, scratch))
  }

  @Test("the layout makes folders of the date and the title, none of which climbs out")
  func layout() async throws {
    let scratch = try Scratch()
    let file = try Granted(.pattern(3, count: 10), named: "a.mp4", in: scratch)
    _ = try await archive(scratch, layout: "{year}/{title}").deliver(
      handoff("h", [file.identifier], title: "../../etc/pass\nwd"),
      file.grants
    )
    let copy = try #require(try scratch.files().first { $0.lastComponent == "a.mp4" })
    #expect(copy.components.count == 3)
    #expect(copy.components[1] == "_._.._etc_pass_wd")
    for bad in ["/abs", "../x", "{colour}"] {
      await #expect(throws: RPCMessage.Failure.self) {
        try await archive(scratch, layout: bad).run { _, _ in }
      }
    }
  }

  @Test("a link in place of a folder is not followed")
  func links() async throws {
    let scratch = try Scratch()
    let elsewhere = scratch.path.appending("elsewhere")
    try Directory.create(elsewhere)
    #expect(symlink(elsewhere.nulTerminated, scratch.out.appending("x").nulTerminated) == 0)
    let file = try Granted(.pattern(3, count: 10), named: "a.mp4", in: scratch)
    let outcome = try await archive(scratch, layout: "x").deliver(
      handoff("h", [file.identifier]),
      file.grants
    )
    #expect(outcome.failure?.code == .destinationUnavailable)
    #expect(try Directory.entries(of: elsewhere).isEmpty)
  }
}
