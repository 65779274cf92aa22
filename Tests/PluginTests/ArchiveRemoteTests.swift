import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive on a remote", .timeLimit(.minutes(5)))
struct ArchiveRemoteTests {
  @Test("a copy is proven by the remote's digest, is found again, and replaces nothing")
  func copies() async throws {
    let scratch = try Scratch()
    let plugin = try scratch.remoteArchive()
    let first = try Granted(.pattern(1, count: 500_000), named: "a [b] {c} é\n*.mp4", in: scratch)
    let second = try Granted(.pattern(2, count: 500_000), named: "a [b] {c} é\n*.mp4", in: scratch)
    var outcomes: [HandoffResult.Outcome] = []
    for (id, file) in [("a", first), ("b", second), ("c", first)] {
      outcomes.append(try await plugin.deliver(handoff(id, [file.identifier]), file.grants))
    }
    let checksum = outcomes[0].output?["checksum"]
    #expect(checksum?["algorithm"] == .string("sha256"))
    #expect(checksum?["value"]?.text == first.asset.sha256.hex)
    #expect(checksum?["method"] == .string("server"))
    #expect(outcomes[0].output?["path"] == .string("a/a [b] {c} é_*.mp4"))
    #expect(outcomes[2].output?["path"] == outcomes[0].output?["path"])
    let mark = "a/a [b] {c} é_*-\(second.asset.sha256.hex.prefix(8)).mp4"
    #expect(outcomes[1].output?["path"] == .string(mark))
    #expect(try scratch.files() == ["a/a [b] {c} é_*.mp4", BytePath(mark), "a/SHA256SUMS"])
    #expect(try await scratch.isRemoteVerified())
  }

  @Test(
    "killed at every step and started again, it keeps exactly one whole copy and leaves no child"
  )
  func crashes() async throws {
    var steps = 0
    for ordinal in stride(from: 2, through: 120, by: ArchiveScene.isThorough ? 1 : 17) {
      let scratch = try Scratch()
      let plugin = try scratch.remoteArchive()
      let file = try Granted(.pattern(7, count: 300_000), named: "clip.mp4", in: scratch)
      let ended = try await plugin.deliverOverCrashes(
        handoff("h", [file.identifier]),
        file.grants,
        faults: ["*:\(ordinal):kill"]
      )
      #expect(ended.outcome.output?["sha256"]?.text == file.asset.sha256.hex, "step \(ordinal)")
      #expect(try scratch.files() == ["a/clip.mp4", "a/SHA256SUMS"], "step \(ordinal)")
      #expect(try await scratch.isRemoteVerified(), "step \(ordinal)")
      if ended.processes == 1 { break }
      steps = ordinal
    }
    #expect((19..<119).contains(steps))
  }

  @Test("two exports of one name at once: both are kept")
  func race() async throws {
    let scratch = try Scratch()
    let plugin = try scratch.remoteArchive()
    let files = try (1...2).map {
      try Granted(.pattern(UInt8($0), count: 200_000), named: "clip.mp4", in: scratch)
    }
    try await plugin.run { broker, _ in
      for (index, file) in files.enumerated() {
        broker.grant(file.identifier, file.asset)
        let _: SubmitAnswer = try await broker.ask(.submit, handoff("h\(index)", [file.identifier]))
      }
      for _ in files { #expect(try await broker.nextResult().outcome.output != nil) }
    }
    #expect(try scratch.files().count == 3)
    #expect(try await scratch.isRemoteVerified())
  }

  @Test("an upload that ends well with other bytes is no success")
  func corruption() async throws {
    for verify in ["auto", "download"] {
      let scratch = try Scratch()
      // The same size, one byte other: only a digest tells.
      let temporary = scratch.out.appending("a/.handoff-h-0.part").lossyText
      let fake = try scratch.program(
        """
        rclone "$@" || exit
        case "$1" in copyto)
          printf X | dd of='\(temporary)' bs=1 seek=9 conv=notrunc 2> /dev/null ;;
        esac
        """
      )
      let file = try Granted(.pattern(7, count: 300_000), named: "clip.mp4", in: scratch)
      let plugin = try scratch.remoteArchive(["rclone": fake, "verify": .string(verify)])
      let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
      #expect(outcome.failure?.code == .receiverFailed)
      #expect(outcome.failure?.retry == .later)
      #expect(try !scratch.files().contains("a/clip.mp4"))
    }
  }

  @Test("rclone that fails or hangs is told, without what is secret")
  func failures() async throws {
    let secret = "s3cretOfTheAccount"
    let other = "t0kenOfAnotherSection"
    let cases: [(script: String, code: ErrorCode, retry: RetryAdvice)] = [
      ("echo 'NoSuchBucket: it is not there' >&2; exit 1", .notConfigured, .afterFix),
      ("echo 'SignatureDoesNotMatch \(secret) status code: 403' >&2; exit 1", .auth, .afterFix),
      (
        "echo 'Get \"http://u:\(secret)@h/x?sig=\(secret)\": dial tcp: refused' >&2; exit 1",
        .network, .later
      ),
      ("echo 'put: 507 Insufficient Storage' >&2; exit 1", .quota, .later),
      ("echo 'InternalError: request id: A403B401C429' >&2; exit 1", .network, .later),
      (
        "echo '\(String(repeating: "x", count: 390)) \(secret) \(other)' >&2; exit 5", .network,
        .later
      ),
      ("exit 5", .network, .later), ("exit 7", .destinationUnavailable, .afterFix),
      ("sleep 100 & wait", .network, .later),
    ]
    for (script, code, retry) in cases {
      let scratch = try Scratch()
      let fake = try scratch.program(script)
      let plugin = try scratch.remoteArchive(
        ["rclone": fake, "timeout": .integer(1)],
        section: "type = local\npass = \(secret)\n[below]\ntoken = \(other)"
      )
      let file = try Granted(.pattern(7, count: 100), named: "Certificate 403.mp4", in: scratch)
      let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
      #expect(outcome.failure?.code == code, "\(script)")
      #expect(outcome.failure?.retry == retry, "\(script)")
      #expect(outcome.failure?.effect == Effect.none)
      // Nor the beginning of one that is cut.
      for word in [secret, other] {
        #expect(outcome.failure?.message.contains(word.prefix(6)) == false, "\(script)")
      }
    }
  }

  @Test("verify finds a copy that was changed and one that was removed; doctor's checks pass")
  func verification() async throws {
    let scratch = try Scratch()
    let plugin = try scratch.remoteArchive()
    let file = try Granted(.pattern(7, count: 3000), named: "clip.mp4", in: scratch)
    let outcome = try await plugin.deliver(handoff("h", [file.identifier]), file.grants)
    let question = VerifyParameters(
      handoffID: "h",
      assets: [
        DeliveredAsset(
          localIdentifier: file.identifier,
          sha256: file.asset.sha256,
          size: file.asset.size
        )
      ],
      output: try #require(outcome.output)
    )
    let copy = scratch.out.appending("a/clip.mp4")
    try await plugin.run { broker, _ in
      func standing() async throws -> VerifiedAsset.Standing? {
        let answer: VerifyAnswer = try await broker.ask(.verify, question)
        return answer.assets.first?.standing
      }
      #expect(try await standing() == .intact)
      let status: StatusAnswer = try await broker.ask(.status, StatusQuestion(checks: true))
      let checks = try #require(status.checks)
      #expect(checks.filter { !$0.passed } == [])
      #expect(checks.map(\.name) == ["program", "credentials", "reachable", "proof", "space"])
      try DurableFile.write(.pattern(8, count: 3000), to: copy)
      #expect(try await standing() == .damaged)
      try DurableFile.unlink(copy)
      #expect(try await standing() == .missing)
    }
  }

  @Test("settings that cannot work are told at the start")
  func settings() async throws {
    let scratch = try Scratch()
    let wrong: [[String: JSONValue]] = [
      ["remote": .string("nowhere")], ["remote": .string("other:x")],
      ["remote": .string(":s3,secret=x:bucket")], ["rclone": .string("/nowhere/rclone")],
      ["rclone_config": .string("/nowhere/rclone.conf")], ["mhl": .bool(true)],
      ["verify": .string("hope")],
    ]
    for settings in wrong {
      await #expect(throws: RPCMessage.Failure.self, "\(settings)") {
        try await scratch.remoteArchive(settings).run { _, _ in }
      }
    }
    let gone = try scratch.remoteArchive(["remote": .string("store:\(scratch.out.lossyText)/none")])
    let file = try Granted(.pattern(7, count: 100), named: "clip.mp4", in: scratch)
    let outcome = try await gone.deliver(handoff("h", [file.identifier]), file.grants)
    #expect(outcome.failure?.code == .notConfigured)
    #expect(try scratch.files().isEmpty)
  }

  @Test("what a crash has left of a manifest is put together again")
  func tornManifest() async throws {
    let scratch = try Scratch()
    let plugin = try scratch.remoteArchive()
    let files = try (1...2).map {
      try Granted(.pattern(UInt8($0), count: 1000), named: BytePath("\($0).mp4"), in: scratch)
    }
    _ = try await plugin.deliver(handoff("a", [files[0].identifier]), files[0].grants)
    let manifest = scratch.out.appending("a/SHA256SUMS")
    let whole = try FileDescriptor.open(manifest, O_RDONLY).readAll(limit: 1000)
    // As if it had been killed while it wrote in place: the new one is beside it.
    try DurableFile.write(whole, to: scratch.out.appending("a/.handoff-SHA256SUMS.part"))
    try DurableFile.write(Array(whole.prefix(40)), to: manifest)
    _ = try await plugin.deliver(handoff("b", [files[1].identifier]), files[1].grants)
    #expect(try scratch.files() == ["a/1.mp4", "a/2.mp4", "a/SHA256SUMS"])
    #expect(try await scratch.isRemoteVerified())
    #expect(try FileDescriptor.open(manifest, O_RDONLY).readAll(limit: 1000).starts(with: whole))
  }
}
