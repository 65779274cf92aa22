import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// A scene whose destinations are `http` receivers of the test.
struct HTTPScene {
  let scene: Scene
  let receiver: HookReceiver

  var broker: RunningBroker { scene.broker }

  /// Runs a test with one destination `hook`, which has further lines, and further tables after it.
  static func run(
    answer: String,
    more: String = "",
    others: String = "",
    behaviour: @escaping HookReceiver.Behaviour,
    _ body: nonisolated(nonsending) (HTTPScene) async throws -> Void
  ) async throws {
    let receiver = try HookReceiver(behaviour)
    defer { receiver.stop() }
    let configuration = configuration(receiver.url, answer: answer, more: more, others: others)
    try await withTemporaryDirectory { root in
      let broker = try RunningBroker(
        root: root,
        configuration: configuration,
        environment: [
          "HOOK_SECRET=\(HookReceiver.secret)", "OTHER_SECRET=\(HookReceiver.otherSecret)",
        ]
      )
      try await broker.start()
      do {
        try await body(HTTPScene(scene: Scene(broker: broker), receiver: receiver))
      } catch {
        let tail = try? broker.tail()
        await broker.end(SIGKILL)
        print(tail ?? "no log")
        throw error
      }
      // No secret of either kind in what people read.
      let log = try broker.wholeLog
      for delivery in try receiver.deliveries {
        #expect(!log.contains(delivery.request.state.revealed))
        if let grant = delivery.grant { #expect(!log.contains(grant)) }
      }
      #expect(!log.contains(HookReceiver.secret))
      await broker.end(SIGKILL)
    }
  }

  static func configuration(
    _ url: String,
    answer: String,
    more: String = "",
    others: String = "",
    listen: String = "127.0.0.1:0"
  ) -> String {
    Scene.configuration(
      destinations: """
        [destination.hook]
        transport = "http"
        url = "\(url)"
        answer = "\(answer)"
        \(more.contains("secret =") ? "" : "secret = { env = \"HOOK_SECRET\" }")
        \(more)
        \(others)
        """
    ).replacing(#"listen = """#, with: "listen = \"\(listen)\"")
  }

  /// Imports a video and sends it, without waiting for the end.
  @discardableResult
  func send(_ number: UInt64 = 1, to destination: String = "hook") async throws -> String {
    let name = BytePath("\(number).mp4")
    try scene.write(try await Scene.video(number), to: name)
    let identifier = try await scene.identifier(of: name)
    let sent = try await broker.command([
      "send", BytePath(identifier), "--to", BytePath(destination), "--json",
    ])
    try #require(sent.code == 0, "\(sent.errors)")
    return identifier
  }

  /// Waits until the newest handoff has a status.
  @discardableResult
  func wait(for status: String) async throws -> JSONValue {
    let handoffs = try await broker.wait("handoffs") { handoffs in
      handoffs.elements.first?["status"]?.text == status
    }
    return try #require(handoffs.elements.first)
  }

  /// Writes another configuration and starts the broker anew with it.
  func restart(with configuration: String? = nil, _ signal: CInt = SIGTERM) async throws {
    await broker.end(signal)
    if let configuration {
      try DurableFile.write(Array(configuration.utf8), to: broker.config)
    }
    try await broker.start()
  }
}
