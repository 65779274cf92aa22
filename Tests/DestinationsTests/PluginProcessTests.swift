import Destinations
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a plugin did, and a place to wait for it.
private final class Watched: Sendable {
  let results = Captured<HandoffResult>()
  let malformed = Captured<String>()
  let progress = Captured<ProgressParameters>()
  let ends = Captured<PluginEnd>()
  let events: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() {
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1000))
  }

  func callbacks(resolving path: BytePath) throws -> PluginCallbacks {
    var callbacks = PluginCallbacks()
    let digest = try #require(ContentDigest(hex: String(repeating: "0", count: 64)))
    callbacks.onResolve = { _ throws(RPCMessage.Failure) in
      ResolvedAsset(path: path.lossyText, sha256: digest, size: 20)
    }
    callbacks.onResult = { result throws(RPCMessage.Failure) in
      self.results.append(result)
      self.continuation.yield("result")
    }
    callbacks.onMalformed = { token, error in
      self.malformed.append("\(token?.revealed ?? "none") \(error.code)")
      self.continuation.yield("malformed")
    }
    callbacks.onProgress = { progress in
      self.progress.append(progress)
      self.continuation.yield("progress")
    }
    callbacks.onExit = { end in
      self.ends.append(end)
      self.continuation.yield("exit")
    }
    return callbacks
  }

  /// Waits until something has happened a number of times.
  func wait(for name: String, times: Int = 1) async {
    var seen = 0
    for await event in events where event == name {
      seen += 1
      if seen == times { return }
    }
  }
}

/// How a test's plugin is set up.
private struct Plan {
  var values: (Surroundings) -> [String] = { _ in [] }
  var discovery: Duration = .seconds(30)
  var change: (inout DestinationSettings) -> Void = { _ in }
}

@Suite("A plugin's process", .timeLimit(.minutes(2)))
struct PluginProcessTests {
  /// Runs a misbehaving plugin around a piece of work; the error that its run ended with comes back.
  @discardableResult
  private func run(
    _ behaviour: String,
    contained: Bool = false,
    plan: Plan = Plan(),
    shutdown: Bool = true,
    _ body: (PluginProcess, Watched, Surroundings) async throws -> Void
  ) async throws -> (any Error)? {
    var failure: (any Error)?
    try await Surroundings.with(containment: contained) { surroundings in
      let watched = Watched()
      var limits = PluginProcess.Limits()
      limits.grace = .milliseconds(500)
      limits.discovery = plan.discovery
      let plugin = PluginProcess(
        launch: try surroundings.launch(
          .plugin,
          ["hostile-receiver", "plugin", behaviour] + plan.values(surroundings),
          plan.change
        ),
        limits: limits,
        callbacks: try watched.callbacks(resolving: surroundings.asset)
      )
      failure = try await withThrowingTaskGroup(of: (any Error)?.self) { group in
        group.addTask {
          do {
            try await plugin.run()
            return nil
          } catch {
            return error
          }
        }
        try await body(plugin, watched, surroundings)
        if shutdown { await plugin.shutdown() }
        return try await group.next() ?? nil
      }
    }
    return failure
  }

  private func parameters(_ token: String = "token-1.abc_DEF") throws -> SubmitParameters {
    SubmitParameters(handoffID: "h1", request: try Surroundings.request(token))
  }

  @Test(
    "takes a request, resolves its asset, tells progress and answers",
    arguments: [false, true]
  )
  func good(contained: Bool) async throws {
    let failure = try await run("good", contained: contained) { plugin, watched, surroundings in
      let introduction = try await plugin.ready()
      #expect(introduction.agreement.version == 3)
      #expect(introduction.offers(.reconcile))
      #expect(try await plugin.submit(try parameters()).accepted)
      await watched.wait(for: "result")
      #expect(watched.progress.all.map(\.fraction) == [0.5])
      #expect(
        watched.results.all.first?.output == ["path": .string(surroundings.asset.lossyText)]
      )
      await plugin.shutdown()
      await watched.wait(for: "exit")
      #expect(watched.ends.all.map(\.status) == [.exited(0)])
    }
    #expect(failure == nil)
  }

  @Test(
    "cannot read the ledger, change its asset, or reach network, socket or broker",
    .enabled(if: bubblewrapIsInstalled())
  )
  func attacks() async throws {
    let listener = try LoopbackListener()
    try await run(
      "attack",
      contained: true,
      plan: Plan(values: {
        [
          "ledger=\($0.ledger.lossyText)", "socket=\($0.socketPath.lossyText)",
          "port=\(listener.port)", "pid=\(getpid())",
        ]
      })
    ) { plugin, watched, surroundings in
      _ = try await plugin.submit(try parameters())
      await watched.wait(for: "result")
      let report = try #require(watched.results.all.first?.output).mapValues { $0.text ?? "" }
      let allowed = report.filter { $0.value == "succeeded" }.keys.sorted()
      #expect(allowed == ["read_asset", "write_work"], "\(report)")
      for name in ["write_asset", "chmod_asset", "unlink_asset", "fchmod_asset", "add_grant"] {
        #expect(report[name] == "Read-only file system", "\(name)")
      }
      #expect(report["read_ledger"] == "No such file or directory")
      let bytes = try FileDescriptor.open(surroundings.asset, O_RDONLY).readAll(limit: 100)
      #expect(bytes == Array(Surroundings.assetText.utf8))
    }
  }

  @Test("of another protocol version is refused, and both are named")
  func versions() async throws {
    let failure = try await run(
      "old",
      plan: Plan(change: { $0.protocolVersions = [3] }),
      shutdown: false
    ) { plugin, _, _ in
      await #expect(throws: ResultError.self) { _ = try await plugin.ready() }
    }
    let error = try #require(failure as? ResultError)
    #expect(error.code == .versionIncompatible)
    let both = "the broker writes 3, the receiver reads 1, 2"
    #expect(error.message == "no protocol version in common: \(both)")
    #expect(error.effect == Effect.none)
  }

  @Test("that exits at once, is silent, or is not there has no effect")
  func startFailures() async throws {
    let exited = try await run("exit", shutdown: false) { _, _, _ in }
    #expect((exited as? ResultError)?.message.contains("exit code 3") == true)
    let silent = try await run("silent", plan: Plan(discovery: .milliseconds(300)), shutdown: false)
    {
      plugin,
      _,
      _ in
      await #expect(throws: ResultError.self) { _ = try await plugin.submit(try parameters()) }
    }
    #expect((silent as? ResultError)?.message.contains("discover") == true)
    #expect((silent as? ResultError)?.effect == Effect.none)
    let missing = try await run(
      "good",
      plan: Plan(change: { $0.command = ["no-such"] }),
      shutdown: false
    ) {
      _,
      _,
      _ in
    }
    #expect((missing as? ResultError)?.code == .destinationUnavailable)
  }

  @Test(
    "that sends what is no message is ended, and the handoff's outcome is unknown",
    arguments: [
      "garbage", "huge", "die",
    ]
  )
  func brokenConnection(_ behaviour: String) async throws {
    try await run(behaviour, shutdown: false) { plugin, watched, _ in
      await #expect {
        _ = try await plugin.submit(try parameters())
      } throws: { error in
        (error as? ResultError)?.code == .receiverCrashed
          && (error as? ResultError)?.effect == .unknown
      }
      await watched.wait(for: "exit")
      let end = try #require(watched.ends.all.first)
      #expect(end.problem != nil)
      // It has ended, so nothing is handed over any more, and that has no effect.
      await #expect {
        _ = try await plugin.submit(try parameters())
      } throws: { error in
        (error as? ResultError)?.effect == Effect.none
      }
    }
  }

  @Test("can refuse a request, and says itself what it left behind")
  func refusal() async throws {
    try await run("refuse") { plugin, _, _ in
      let answer = try await plugin.submit(try parameters())
      #expect(!answer.accepted)
      #expect(answer.error?.code == .unsupportedMedia)
      #expect(answer.error?.effect == Effect.none)
    }
  }

  @Test("whose result is malformed is told of, with its token")
  func malformedResult() async throws {
    try await run("malformed") { plugin, watched, _ in
      _ = try await plugin.submit(try parameters("the-token"))
      await watched.wait(for: "malformed")
      #expect(watched.malformed.all == ["the-token malformed_result"])
      #expect(watched.results.all.isEmpty)
    }
  }

  @Test("whose result is larger than a result may be is malformed")
  func largeResult() async throws {
    try await run("large") { plugin, watched, _ in
      _ = try await plugin.submit(try parameters("the-token"))
      await watched.wait(for: "malformed")
      #expect(watched.malformed.all == ["the-token malformed_result"])
      #expect(watched.results.all.isEmpty)
    }
  }

  @Test("that talks on fills no log, and its result counts")
  func talkative() async throws {
    try await run("talkative") { plugin, watched, surroundings in
      _ = try await plugin.submit(try parameters())
      await watched.wait(for: "result")
      let lines = surroundings.records.all.filter { $0.message == "The plugin says" }
      #expect(lines.count > 10 && lines.count < 120, "\(lines.count)")
    }
  }

  @Test("that answers twice is heard twice: the ledger decides")
  func twice() async throws {
    try await run("twice") { plugin, watched, _ in
      _ = try await plugin.submit(try parameters())
      await watched.wait(for: "result", times: 2)
      let answers = watched.results.all.compactMap { $0.output?["answer"]?.text }
      #expect(answers.sorted() == ["1", "2"])
    }
  }

  @Test("that ends right after its result is heard before its end is told")
  func lastWords() async throws {
    try await run("last-words", shutdown: false) { plugin, watched, _ in
      _ = try await plugin.submit(try parameters())
      await watched.wait(for: "exit")
      #expect(watched.results.all.count == 1)
      #expect(watched.ends.all.map(\.status) == [.exited(0)])
    }
  }

  @Test("that floods its log is heard all the same, and its token is in no log")
  func flood() async throws {
    try await run("flood") { plugin, watched, surroundings in
      _ = try await plugin.submit(try parameters())
      await watched.wait(for: "result")
      await plugin.shutdown()
      await watched.wait(for: "exit")
      let end = try #require(watched.ends.all.first)
      #expect(end.outputTail.utf8.count <= 70_000)
      #expect(end.outputTail.contains("noise (state token)"))
      #expect(!end.outputTail.contains("token-1"))
      let lines = surroundings.records.all.map { LineFormat.line($0, time: "") }
      #expect(!lines.contains { $0.contains("token-1") })
    }
  }

  @Test(
    "that leaves a grandchild in a session of its own takes it along when it is contained",
    .enabled(if: bubblewrapIsInstalled())
  )
  func grandchild() async throws {
    try await run("grandchild", contained: true) { plugin, watched, _ in
      _ = try await plugin.submit(try parameters())
      await watched.wait(for: "result")
      let mark = "sleep\u{0}600\u{0}"
      let id = try #require(plugin.processID)
      // It was forked before the result, and becomes `sleep` a moment later.
      let found = try await poll {
        let found = try processes(of: mark, within: id)
        return found.isEmpty ? nil : found
      }
      let left = try #require(found)
      await plugin.shutdown()
      await watched.wait(for: "exit")
      // The kernel ends the namespace a moment after bubblewrap itself.
      let isGone = try await poll { left.contains(where: isAlive) ? nil : true }
      #expect(isGone == true)
    }
  }

  @Test(
    "that ignores shutdown, the end of its socket and SIGTERM is killed",
    arguments: [
      false, true,
    ]
  )
  func ignoring(contained: Bool) async throws {
    try await run("ignore", contained: contained) { plugin, watched, _ in
      _ = try await plugin.ready()
      let id = try #require(plugin.processID)
      await plugin.shutdown()
      await watched.wait(for: "exit")
      #expect(watched.ends.all.map(\.status) == [.signalled(SIGKILL)])
      #expect(!isAlive(id))
    }
  }

  @Test("is gone when its run is cancelled", arguments: [false, true])
  func cancelled(contained: Bool) async throws {
    try await Surroundings.with(containment: contained) { surroundings in
      let watched = Watched()
      let plugin = PluginProcess(
        launch: try surroundings.launch(.plugin, ["hostile-receiver", "plugin", "good"]),
        callbacks: try watched.callbacks(resolving: surroundings.asset)
      )
      let running = Task { try await plugin.run() }
      _ = try await plugin.ready()
      let id = try #require(plugin.processID)
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
      #expect(!isAlive(id))
      #expect(watched.ends.all.isEmpty)
    }
  }

  @Test("is asked what it knows, and an optional message that it lacks means unknown")
  func knowledge() async throws {
    try await run("good") { plugin, _, _ in
      let known = try await plugin.reconcile([try parameters()])
      #expect(known.map(\.standing) == [.working])
      let reference = HandoffReference(handoffID: "h1", state: try parameters().request.state)
      // Offered, and then answered "unsupported".
      #expect(try await plugin.probe(reference).standing == .unknown)
      #expect(try await plugin.cancel(reference) == nil)
    }
    try await run("plain") { plugin, _, _ in
      let known = try await plugin.reconcile([try parameters()])
      #expect(known.map(\.standing) == [.unknown])
    }
  }

  @Test("runs without containment where that is only preferred, and says so")
  func preferred() async throws {
    try await Surroundings.with(containment: false) { surroundings in
      let launch = try surroundings.launch(.plugin, ["hostile-receiver"])
      #expect(launch.containment == "none: not in this test")
      let off = try surroundings.launch(.plugin, ["hostile-receiver"]) { $0.containment = .none }
      #expect(off.containment == "none: configured so")
    }
  }

  @Test("is refused where containment is required and there is none")
  func required() async throws {
    let failure = try await run(
      "good",
      plan: Plan(change: { $0.containment = .require }),
      shutdown: false
    ) {
      _,
      _,
      _ in
    }
    let error = try #require(failure as? ResultError)
    #expect(error.code == .destinationUnavailable)
    #expect(error.retry == .afterFix)
    #expect(error.message.contains("not in this test"))
  }
}
