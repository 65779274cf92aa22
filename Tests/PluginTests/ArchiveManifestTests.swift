import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive: SHA256SUMS", .timeLimit(.minutes(2)))
struct ArchiveManifestTests {
  private func lines(_ scene: ArchiveScene) throws -> [String] {
    let bytes = try FileDescriptor.open(scene.out.appending("SHA256SUMS"), O_RDONLY)
      .readAll(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map(
      String.init
    )
  }

  @Test("what somebody else has written into it stays, whatever the form of it")
  func foreign() async throws {
    let cases: [(script: String, isCheckable: Bool)] = [
      ("printf other > o.bin; printf '%s  o.bin' $(sha256sum < o.bin | cut -c-64)", true),
      ("printf other > o.bin; printf '%s *o.bin\\r\\n' $(sha256sum < o.bin | cut -c-64)", true),
      ("printf 'my own list of sums'", false), ("printf 'SHA256 (x) = 12\\n\\n# end'", false),
    ]
    for (script, isCheckable) in cases {
      let scene = try ArchiveScene()
      #expect(try await scene.sh("{ \(script); } > SHA256SUMS; cp SHA256SUMS ../before").code == 0)
      let file = try scene.file("one", "a.mp4")
      for id in ["h", "i"] { #expect(try await scene.deliver(id, file).failure == nil) }
      #expect(
        try await scene.sh("head -c $(wc -c < ../before) SHA256SUMS | cmp - ../before").code == 0
      )
      #expect(try lines(scene).filter { $0 == "\(file.asset.sha256.hex)  a.mp4" }.count == 1)
      let (code, text) = try await scene.sh("sha256sum -c SHA256SUMS 2>&1")
      #expect((code == 0) == isCheckable || text.contains("a.mp4: OK"), "\(text)")
    }
  }

  @Test("what is no file in its place is not written to, and does not hold up")
  func strange() async throws {
    for script in ["mkfifo SHA256SUMS", "ln -s ../elsewhere SHA256SUMS", "mkdir SHA256SUMS"] {
      let scene = try ArchiveScene()
      #expect(try await scene.sh(script).code == 0)
      let outcome = try await scene.deliver("h", try scene.file("one", "a.mp4"))
      #expect(outcome.failure?.retry == .afterFix, "\(script)")
      #expect(try await scene.sh("test ! -e ../elsewhere").code == 0)
    }
  }

  @Test("a copy that a person has moved away leaves its name to the same content alone")
  func movedAway() async throws {
    let scene = try ArchiveScene()
    let one = try scene.file("one", "a.mp4")
    _ = try await scene.deliver("h", one)
    #expect(try await scene.sh("mkdir ../kept && mv a.mp4 ../kept").code == 0)
    let other = try await scene.deliver("i", try scene.file("two", "a.mp4"))
    #expect(other.output?["path"]?.text?.contains("/a-") == true)
    let again = try await scene.deliver("j", one)
    #expect(again.output?["path"]?.text?.hasSuffix("/a.mp4") == true)
    #expect(try lines(scene).count == 2)
    #expect(try await scene.sh("sha256sum -c --strict SHA256SUMS").code == 0)
  }

  @Test(
    "names that would be the archive's own elsewhere are not used, and every line is found again"
  )
  func names() async throws {
    let scene = try ArchiveScene()
    for (index, name) in (["sha256sums", "Ascmhl", "end\r", "./x", "\\n", "-"] as [BytePath])
      .enumerated()
    {
      let file = try scene.file("\(index)", name.lastComponent)
      for id in ["h", "i"] {
        #expect(try await scene.deliver("\(id)\(index)", file).failure == nil)
      }
    }
    #expect(try lines(scene).count == 6)
    #expect(try await scene.sh("ls -A | grep -ix -e sha256sums -e ascmhl").text == "SHA256SUMS\n")
    #expect(try await scene.sh("sha256sum -c --strict SHA256SUMS").code == 0)
  }

  @Test("what an attempt that was killed has left is on the disk before it is a success")
  func redone() async throws {
    var failed = 0
    for ordinal in 2...12 {
      let scene = try ArchiveScene(["layout": .string("a")])
      let file = try scene.file("one", "a.mp4")
      _ = try await scene.deliver("h", file)
      let again = try await scene.plugin.run(fault: "fsync:\(ordinal):errno=\(EIO)") { broker, _ in
        broker.grant(file.identifier, file.asset)
        let submitted = handoff("i", [file.identifier])
        let answer: SubmitAnswer = try await broker.ask(.submit, submitted)
        if let error = answer.error { return HandoffResult.Outcome.failure(error) }
        return try await broker.nextResult().outcome
      }
      if again.failure?.code == .destinationUnavailable { failed += 1 }
    }
    // Two folders, the file, its name, the manifest, the manifest's name.
    #expect(failed >= 6)
  }
}
