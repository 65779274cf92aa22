import Glibc
import HandoffClient
import HandoffProtocol
import HandoffTestSupport
import HandoffWire
import LinuxSystem
import Paths
import Testing

/// Senders, with documents of each version and with the client library, and today's broker.
@Suite("Senders", .timeLimit(.minutes(2)))
struct SenderTests {
  private static let script = """
    [destination.social]
    transport = "exec"
    command = ["/bin/sh", "-c", "cat >> $HANDOFF_WORK/requests"]
    containment = "none"
    """

  /// Asks the broker in the words of the control socket.
  private func ask(_ scene: VersionScene, _ document: [String: JSONValue]) async throws -> JSONValue
  {
    let socket = try UnixSocket.connect(scene.client.socket)
    let peer = RPCPeer(socket: socket) { method, _ throws(RPCMessage.Failure) in
      throw .unsupported(method)
    }
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await peer.run() }
      defer { peer.close() }
      return try await peer.call("send", .object(document))
    }
  }

  @Test("a sender's document of version 1, 2 and 3 makes a handoff of today's broker")
  func documents() async throws {
    try await VersionedPlugin.run([], more: Self.script) { scene in
      let one = JSONValue.string(scene.assets[0].text)
      let two = JSONValue.string(scene.assets[1].text)
      let common: [String: JSONValue] = [
        "media_type": .string("video"), "destination": .string("social"), "again": .bool(true),
        "metadata": .object(["take": .integer(3)]), "unknown": .array([.null]),
      ]
      let own: [[String: JSONValue]] = [
        ["local_identifier": one, "title": .string("not known at 1")],
        ["local_identifiers": .array([one, two]), "title": .string("Day 1")],
        ["local_identifiers": .array([one]), "sync_publish": .bool(true)],
      ]
      for (version, members) in zip(1..., own) {
        var document = common.merging(members) { _, new in new }
        document["protocol_version"] = .integer(Int64(version))
        let made = try await ask(scene, document)
        let id = try made.text(of: "id")
        #expect(try await scene.client.wait(for: id).isSuccess)
        #expect(made["title"]?.text == (version == 2 ? "Day 1" : nil))
        #expect(made["local_identifiers"]?.elements.count == (version == 2 ? 2 : 1))
        #expect(made["sync_publish"] == .bool(version == 3))
      }
      let sent = try scene.noted("requests", by: "social")
      #expect(sent.map { $0["metadata"]?["take"]?.integer } == [3, 3, 3])
    }
  }

  @Test("a sender's document of version 4 is refused and names both sides' versions")
  func newer() async throws {
    try await VersionedPlugin.run([], more: Self.script) { scene in
      let refusal = await #expect(throws: RPCMessage.Failure.self) {
        _ = try await ask(
          scene,
          [
            "protocol_version": .integer(4), "destination": .string("social"),
            "local_identifiers": .array([.string(scene.assets[0].text)]),
          ]
        )
      }
      #expect(refusal?.data?.code == .versionIncompatible)
      #expect(refusal?.data?.message == "the sender writes version 4, the broker reads [1, 2, 3]")
      let made = try await scene.scene.broker.json("handoffs").elements
      #expect(made.isEmpty)
    }
  }

  @Test("the sender of the documentation ticks the box in under 15 lines, and publishes")
  func boxSender() async throws {
    let package = BytePath(#filePath).parent.parent.parent.parent
    let source = try text(package.appending("Tests/Fixtures/BoxSender/BoxSender.swift"))
    let shown = try text(package.appending("Sources/HandoffClient/HandoffClient.swift"))
      .split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("/// ") ? $0.dropFirst(4) : $0.dropFirst(3) }.joined(separator: "\n")
    #expect(shown.contains("```swift\n\(source)```"), "the documentation shows another program")
    #expect(source.split(separator: "\n").count < 15)
    try await VersionedPlugin.run([], more: Self.script) { scene in
      let (reading, writing) = try FileDescriptor.pipe()
      var command = ProcessCommand(
        try productsFolder().appending("box-sender"),
        arguments: [
          scene.scene.broker.root.appending("state"), BytePath(scene.assets[0].text),
        ]
      )
      command.descriptors = [1: writing]
      let spawned = try await SpawnedProcess.spawn(command)
      try writing.close()
      let said = try await BlockingThread("test.sender").run { try reading.readAll(limit: 4096) }
      #expect(await spawned.exit() == .exited(0))
      #expect(String(decoding: said, as: UTF8.self).hasPrefix("succeeded"))
      let request = try #require(try scene.noted("requests", by: "social").first)
      #expect(request["sync_publish"] == .bool(true) && request["title"]?.text == "Day 1")
    }
  }

  @Test("a client whose broker dies while it waits makes one handoff and hears its end")
  func restart() async throws {
    let gated = """
      [destination.social]
      transport = "exec"
      command = ["/bin/sh", "-c", "\(Gate.command)"]
      containment = "none"
      """
    try await VersionedPlugin.run([], more: gated) { scene in
      // Nobody is let through it: the script waits until it is ended with its broker.
      let gate = try Gate("social", scene.scene)
      let request = try scene.request("social")
      let client = scene.client
      async let end = client.send(request)
      _ = try await scene.scene.broker.wait("handoffs") {
        $0.elements.first?["status"]?.text == "submitted"
      }
      await scene.scene.broker.end(SIGKILL)
      try await scene.scene.broker.start()
      // A script has nobody left to ask: its end is not known, and that is an outcome.
      let outcome = try await end.outcome
      guard case .outcomeUnknown(let error) = outcome else {
        Issue.record("\(outcome)")
        return
      }
      #expect(error?.code == .interrupted)
      #expect(try await scene.scene.broker.json("handoffs").elements.count == 1)
      try gate.pass()
    }
  }

  private func text(_ path: BytePath) throws -> String {
    String(
      decoding: try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 20),
      as: UTF8.self
    )
  }
}
