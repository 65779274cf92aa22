import Destinations
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("A url receiver", .timeLimit(.minutes(1)))
struct URLReceiverTests {
  private static func open(
    _ script: String,
    named name: String = "opener",
    in root: BytePath,
    _ change: (inout DestinationSettings) -> Void = { _ in }
  ) async throws -> ResultError? {
    let program = root.appending(name)
    try DurableFile.write(Array("#!/bin/sh\n\(script)\n".utf8), to: program, permissions: 0o755)
    let destination = try #require(DestinationName("desktop"))
    var settings = DestinationSettings(
      name: destination,
      transport: .url,
      command: [program.lossyText, "--new"]
    )
    settings.url = "editor://handoff"
    change(&settings)
    let host = ReceiverHost(
      programs: root,
      environment: [
        "PATH": CommandSearch.defaultPath, "DISPLAY": ":7", "SECRET": "s", "GIVEN": "g",
      ],
      support: .none(reason: "not in this test"),
      system: try SystemLayout.current(),
      hidden: [],
      logger: Logger(threshold: .debug) { _ in }
    )
    return await URLReceiver(settings: settings, host: host).open(
      try Surroundings.request(),
      assets: [root.appending("a b.mp4")]
    )
  }

  @Test("gives the opener the URL as its last argument, and the session's environment")
  func opens() async throws {
    try await withTemporaryDirectory { root in
      let out = root.appending("out").lossyText
      let script = """
        { printf '%s\\n' "$@"; env; } > '\(out)'
        """
      #expect(try await Self.open(script, in: root) { $0.env = ["GIVEN"] } == nil)
      let bytes = try FileDescriptor.open(BytePath(out), O_RDONLY).readAll(limit: 65_536)
      let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
      #expect(lines[0] == "--new")
      let request = try HandoffURL.decodeRequest(Array(lines[1].utf8))
      #expect(lines[1].hasPrefix("editor://handoff?"))
      #expect(request.title == "A title")
      #expect(lines.contains("DISPLAY=:7"))
      #expect(lines.contains("GIVEN=g"))
      #expect(lines.contains("HANDOFF_DESTINATION=desktop"))
      #expect(lines.contains("HANDOFF_ASSET_1=\(root.lossyText)/a b.mp4"))
      #expect(!lines.contains { $0.hasPrefix("SECRET") })
    }
  }

  @Test("what it started lives on when the opener has ended, and may print")
  func survives() async throws {
    try await withTemporaryDirectory { root in
      let fifo = root.appending("fifo").lossyText
      let out = root.appending("out").lossyText
      try checked("mkfifo") { mkfifo(fifo, 0o600) }
      let script = "(read -r line < '\(fifo)'; echo printed; echo $? > '\(out)') & exit 0"
      #expect(try await Self.open(script, in: root) == nil)
      // It still waits for this line, long after its opener.
      #expect(await shell("echo go > '\(fifo)'") == 0)
      let found = try await poll { try FileStatus.of(BytePath(out))?.size == 2 ? true : nil }
      #expect(found == true)
    }
  }

  @Test(
    "an exit status says that nothing was opened only where it is documented to",
    arguments: [
      ("exit 75", "opener", Effect.none, RetryAdvice.later),
      ("exit 2", "xdg-open", .none, .afterFix), ("exit 3", "xdg-open", .none, .afterFix),
      ("exit 4", "xdg-open", .unknown, .never), ("exit 1", "xdg-open", .unknown, .never),
      ("kill -9 $$", "xdg-open", .unknown, .never),
      ("exit 3", "opener", .unknown, .never), ("kill -9 $$", "opener", .unknown, .never),
    ]
  )
  func exitCodes(script: String, name: String, effect: Effect, retry: RetryAdvice) async throws {
    try await withTemporaryDirectory { root in
      let error = try #require(try await Self.open(script, named: name, in: root))
      #expect(error.effect == effect)
      #expect(error.retry == retry)
      #expect(!"\(error)".contains("token-1.abc_DEF"))
    }
  }

  @Test("an opener that is not there waits, and a request that does not fit is refused")
  func unopened() async throws {
    try await withTemporaryDirectory { root in
      let missing = try await Self.open("exit 0", in: root) { $0.command = ["/nowhere/opener"] }
      #expect(missing?.effect == Effect.none)
      #expect(missing?.retry == .later)
      let schemeless = try await Self.open("exit 0", in: root) { $0.url = "editor" }
      #expect(schemeless?.code == .malformedRequest)
    }
  }
}

@Suite("A result that came back")
struct ReturnedResultTests {
  private static let token = "12.abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
  private static let url = "handoff://result?protocol_version=3&state=\(token)&result=success"

  @Test("is read as a URL or as a document, with white space around it")
  func forms() throws {
    let document = "{\"protocol_version\":3,\"state\":\"\(Self.token)\",\"result\":\"success\"}"
    for text in [Self.url, Self.url + "\n", " \r\n" + document + "\n"] {
      let result = try ReturnedResult.read(Array(text.utf8))
      #expect(result.state.revealed == Self.token)
      #expect(result.output == [:])
    }
  }

  @Test("never carries its token anywhere else")
  func redacted() throws {
    let result = try ReturnedResult.read(Array((Self.url + "&output.url=x%2F\(Self.token)").utf8))
    #expect(result.output == ["url": .string("x/(state token)")])
    let odd = Self.url.replacing("result=success", with: "result=\(Self.token)")
    do {
      _ = try ReturnedResult.read(Array(odd.utf8))
      Issue.record("read")
    } catch {
      #expect(!"\(error)".contains(Self.token.prefix(12)))
    }
  }

  @Test(
    "is malformed where it is neither",
    arguments: [
      "", "\n", "{", "[]", "success", "handoff://result", "{\"result\":\"success\"}",
      "{\"a\":\"" + String(repeating: "a", count: 20_000) + "\"}",
    ]
  )
  func malformed(text: String) {
    do {
      _ = try ReturnedResult.read(Array(text.utf8))
      Issue.record("read: \(text.prefix(40))")
    } catch let error as ProtocolError {
      #expect(error.code == .malformedResult)
    } catch {
      Issue.record("\(error)")
    }
  }
}
