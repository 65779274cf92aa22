import Callbacks
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing
import Webhooks

/// A folder with what a callback leaves behind, and a notice to bring.
struct CallbackScene: Sendable {
  let root: BytePath
  static let now = Timestamp(milliseconds: 1_800_000_001_500)

  static func with(
    _ body: nonisolated(nonsending) (CallbackScene) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { root in try await body(CallbackScene(root: root)) }
  }

  /// A callback that is a line of shell; `$1` and so on are the further arguments.
  func shell(
    _ line: String,
    _ arguments: [String] = [],
    timeLimit: Duration = .seconds(20)
  ) throws -> CallbackDelivery {
    try delivery(.exec(["sh", "-c", line, "sh"] + arguments), timeLimit: timeLimit)
  }

  func delivery(
    _ action: CallbackSettings.Action,
    secrets: [String] = [],
    command: [String] = CallbackSettings.opener,
    timeLimit: Duration = .seconds(20)
  ) throws -> CallbackDelivery {
    let id = try #require(CallbackID("editor"))
    var host = CallbackHost(
      programs: try productsFolder(),
      environment: [
        "PATH": "/usr/local/bin:/usr/bin:/bin", "SECRET": "s", "HOME": root.lossyText, "TZ": "UTC",
      ]
    )
    host.timeLimit = timeLimit
    host.grace = .milliseconds(300)
    return CallbackDelivery(
      CallbackSettings(id: id, action: action, command: command),
      host: host,
      secrets: try secrets.map { try WebhookSecret($0) },
      now: { Self.now },
      logger: .silent
    )
  }

  /// A notice with these members.
  func notice(_ body: [String: JSONValue] = [:], row: Int64 = 7) throws -> Notice {
    Notice(
      id: Notice.ID(row: row),
      callback: try #require(CallbackID("editor")),
      kind: .result,
      subject: "h1",
      body: body.merging(["kind": .string("result")]) { given, _ in given },
      createdAt: Timestamp(milliseconds: 1_800_000_000_000)
    )
  }

  func path(_ name: String) -> BytePath { root.appending(name) }

  func bytes(_ name: String) throws -> [UInt8] {
    try FileDescriptor.open(path(name), O_RDONLY).readAll(limit: 1 << 24)
  }

  func text(_ name: String) throws -> String {
    String(decoding: try bytes(name), as: UTF8.self)
  }

  /// The process whose number a program wrote down is gone.
  func isGone(_ name: String) throws -> Bool {
    let number = try text(name).split(whereSeparator: \.isWhitespace).first.flatMap { pid_t($0) }
    let id = try #require(number)
    return kill(id, 0) == -1 && errno == ESRCH
  }
}
