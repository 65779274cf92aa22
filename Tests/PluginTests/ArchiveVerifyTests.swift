import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("archive: verify and checks", .timeLimit(.minutes(2)))
struct ArchiveVerifyTests {
  private func verify(
    _ scene: ArchiveScene,
    _ file: Granted,
    _ output: [String: JSONValue]
  ) async throws -> VerifiedAsset {
    let asset = DeliveredAsset(
      localIdentifier: file.identifier,
      sha256: file.asset.sha256,
      size: file.asset.size
    )
    return try await scene.plugin.run { broker, _ in
      let answer: VerifyAnswer = try await broker.ask(
        .verify,
        VerifyParameters(handoffID: "h", assets: [asset], output: output)
      )
      return try #require(answer.assets.first)
    }
  }

  @Test("a copy is intact, damaged, missing, or nobody can tell")
  func standings() async throws {
    let scene = try ArchiveScene()
    let file = try Granted(.pattern(1, count: 5_000_001), named: "a.mp4", in: scene.space)
    let output = try #require(try await scene.deliver("h", file).output)
    #expect(output["checksum"]?["algorithm"]?.text == "sha256")
    #expect(output["checksum"]?["value"]?.text == file.asset.sha256.hex)
    let intact = try await verify(scene, file, output)
    #expect(intact.standing == .intact)
    #expect(intact.method == "sha256")
    #expect(intact.location == output["location"]?.text)
    // Receipts of former releases have no more than this.
    let former = output.filter { ["path", "sha256", "size"].contains($0.key) }
    #expect(try await verify(scene, file, former).standing == .intact)
    let damage = "chmod u+w a.mp4; printf x | dd of=a.mp4 bs=1 seek=4999999 conv=notrunc 2>&1"
    #expect(try await scene.sh(damage).code == 0)
    #expect(try await verify(scene, file, output).standing == .damaged)
    #expect(try await scene.sh("truncate -s 10 a.mp4").code == 0)
    #expect(try await verify(scene, file, output).standing == .damaged)
    #expect(try await scene.sh("rm a.mp4").code == 0)
    #expect(try await verify(scene, file, output).standing == .missing)
    #expect(try await verify(scene, file, [:]).standing == .unknown)
    var elsewhere = output
    elsewhere["path"] = .string("/etc/passwd")
    #expect(try await verify(scene, file, elsewhere).standing == .unknown)
    // An archive that is not mounted has lost nothing.
    #expect(try await scene.sh("rm SHA256SUMS").code == 0)
    #expect(try await verify(scene, file, output).standing == .unknown)
    #expect(try await scene.sh("rm -r ../out").code == 0)
    #expect(try await verify(scene, file, output).standing == .unknown)
  }

  @Test("checks tell of the folder without leaving anything")
  func checks() async throws {
    for (folder, isFine) in [("", true), ("/new", true), ("/new/deep", false), ("/taken", false)] {
      let scene = try ArchiveScene()
      let path = BytePath(scene.space.out.lossyText + folder)
      try FileDescriptor.open(scene.space.out.appending("taken"), O_WRONLY | O_CREAT).close()
      var asked = scene
      asked.out = path
      let answer: StatusAnswer = try await asked.plugin.run { broker, _ in
        try await broker.ask(.status, StatusQuestion(checks: true))
      }
      let checks = try #require(answer.checks)
      #expect(checks.allSatisfy(\.passed) == isFine, "\(checks)")
      let names = isFine ? ["folder", "writable", "space", "file_system"] : ["folder"]
      #expect(checks.map(\.name) == names)
      #expect(try scene.space.files() == ["taken"])
    }
  }
}
