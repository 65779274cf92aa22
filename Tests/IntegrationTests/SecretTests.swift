import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Secrets that are only referred to.
@Suite("Secrets", .timeLimit(.minutes(1)))
struct SecretTests {
  private static let good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private func configuration(_ secret: String) -> String {
    Scene.configuration(
      destinations: """
        [callback.editor]
        url = "https://example.invalid/"
        secret = \(secret)
        """
    )
  }

  private func check(
    _ secret: String,
    environment: [String] = [],
    file: String? = nil,
    permissions: UInt32 = 0o600
  ) async throws -> RunningBroker.Ended {
    try await withTemporaryDirectory { root in
      let broker = try RunningBroker(
        root: root,
        configuration: configuration(secret),
        environment: environment.map { $0.replacing("ROOT", with: root.lossyText) }
      )
      if let file {
        let path = root.appending("secret")
        try DurableFile.write(Array(file.utf8), to: path, permissions: permissions)
        try #require(chmod(path.nulTerminated, permissions) == 0)
      }
      return try await broker.command(["check"])
    }
  }

  @Test("each kind of reference is read")
  func read() async throws {
    #expect(try await check("{ env = \"S\" }", environment: ["S=\(Self.good)"]).code == 0)
    let file = try await check("{ file = \"secret\" }", file: Self.good + "\n")
    #expect(file.code == 0)
    #expect(!file.errors.contains("secret:"))
    let credential = try await check(
      "{ credential = \"secret\" }",
      environment: ["CREDENTIALS_DIRECTORY=ROOT"],
      file: "a plain text of enough bytes"
    )
    #expect(credential.code == 0)
  }

  @Test("what is missing or unfit is named with its place, and never shown")
  func problems() async throws {
    let cases: [(secret: String, environment: [String], file: String?, said: String)] = [
      ("{ env = \"S\" }", [], nil, "the environment variable S is not set"),
      ("{ env = \"S\" }", ["S=hunter2"], nil, "S holds no secret: it has 7 bytes"),
      ("{ env = \"S\" }", ["S=whsec_hunter2!"], nil, "is not base64"),
      ("{ file = \"secret\" }", [], nil, "cannot be read"),
      ("{ file = \"exports\" }", [], nil, "cannot be read"),
      ("{ file = \"secret\" }", [], "hunter2", "holds no secret"),
      (
        "{ file = \"secret\" }", [], String(repeating: "hunter2", count: 1000), "cannot be read"
      ),
      ("{ credential = \"secret\" }", [], "hunter2", "LoadCredential="),
      ("{ credential = \"other\" }", ["CREDENTIALS_DIRECTORY=ROOT"], nil, "cannot be read"),
    ]
    for (secret, environment, file, said) in cases {
      let ended = try await check(secret, environment: environment, file: file)
      #expect(ended.code == 2, "\(secret)")
      #expect(ended.errors.contains("handoff.toml:16:"), "\(ended.errors)")
      #expect(ended.errors.contains("callback.editor.secret: "), "\(ended.errors)")
      #expect(ended.errors.contains(said), "\(ended.errors)")
      #expect(!ended.errors.contains("hunter2"), "\(secret)")
    }
  }

  @Test("a file that every user may read is warned of")
  func readable() async throws {
    let ended = try await check("{ file = \"secret\" }", file: Self.good, permissions: 0o644)
    #expect(ended.code == 0)
    #expect(ended.errors.contains("can be read by every user"))
  }

  @Test("without its secret the broker does not start, and says so")
  func start() async throws {
    try await Scene.run(configuration("{ env = \"S\" }"), starting: false) { scene in
      let ended = try await scene.broker.command(["serve"])
      #expect(ended.code == 2)
      #expect(ended.errors.contains("the environment variable S is not set"))
      let state = scene.broker.root.appending("state/ledger.db")
      #expect(try FileStatus.of(state) == nil)
    }
  }
}
