import Glibc
import HandoffClient
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// A broker that writes versions 1 to 3, with receivers that read others.
@Suite("Protocol versions between broker and receiver", .timeLimit(.minutes(3)))
struct VersionMatrixTests {
  /// What a request holds, and the first version that can carry it.
  private struct Content: Sendable {
    var member: String
    var first: Int
    var change: @Sendable (inout SendRequest) -> Void = { _ in }
    var count = 1
  }

  private static let contents = [
    Content(member: "nothing more", first: 1),
    Content(member: "title", first: 2) { $0.title = "Day 1" },
    Content(member: "2 local_identifiers", first: 2, count: 2),
    Content(member: "sync_publish", first: 3) { $0.syncPublish = true },
    Content(member: "callback_id", first: 3) { $0.callbackID = CallbackID("editor") },
  ]

  private static let receivers = [
    VersionedPlugin(name: "one", versions: "[1]"),
    VersionedPlugin(name: "two", versions: "[1, 2]"),
    VersionedPlugin(name: "three", versions: "[3]"),
    VersionedPlugin(name: "four", versions: "[4]"),
  ]

  private static let callback = """
    [callback.editor]
    exec = ["/bin/true"]
    """

  @Test("each request reaches each receiver in the highest common version, or is refused by name")
  func matrix() async throws {
    try await VersionedPlugin.run(Self.receivers, more: Self.callback) { scene in
      for (name, version) in [("one", 1), ("two", 2), ("three", 3)] {
        for content in Self.contents {
          var request = try scene.request(name, content.count)
          content.change(&request)
          let end = try await scene.client.send(request, again: true)
          guard version < content.first else {
            #expect(end.isSuccess, "\(name), \(content.member): \(end.outcome)")
            #expect(try await scene.recordedVersion(end.id) == Int64(version))
            let sent = try #require(try scene.noted("requests", by: name).last)
            try Self.check(sent, version, request)
            continue
          }
          guard case .refused(let error) = end.outcome else {
            Issue.record("\(name), \(content.member): \(end.outcome)")
            continue
          }
          #expect(error.code == .versionIncompatible && end.side == .sender)
          let reads = name == "one" ? "1" : "1, 2"
          #expect(
            error.message == "protocol version \(version) cannot carry \(content.member): the "
              + "broker writes 1, 2, 3, the receiver reads \(reads)"
          )
        }
      }
      for content in Self.contents {
        var request = try scene.request("four", content.count)
        content.change(&request)
        try await Self.expectRefusal(of: request, scene, reading: "4")
      }
    }
  }

  /// What a receiver of version 4 is told instead of being sent anything.
  private static func expectRefusal(
    of request: SendRequest,
    _ scene: VersionScene,
    reading: String
  ) async throws {
    let end = try await scene.client.send(request, again: true)
    guard case .refused(let error) = end.outcome else {
      Issue.record("\(request.destination): \(end.outcome)")
      return
    }
    #expect(error.code == .versionIncompatible && end.side == .sender)
    #expect(
      error.message == "no protocol version in common: the broker writes 1, 2, 3, the receiver "
        + "reads \(reading)"
    )
    #expect(try scene.noted("requests", by: request.destination.text).isEmpty)
  }

  private static func check(_ sent: JSONValue, _ version: Int, _ request: SendRequest) throws {
    guard case .object(let members) = sent else { throw ProtocolError(.malformedRequest, "none") }
    #expect(members["protocol_version"]?.integer == Int64(version))
    let known = HandoffRequest.members(of: version)
    #expect(Set(members.keys).isSubset(of: known), "\(members.keys.sorted())")
    let identifiers =
      members["local_identifiers"]?.elements ?? [members["local_identifier"] ?? .null]
    #expect(identifiers.map(\.text) == request.localIdentifiers.map(\.text))
    #expect(members["title"]?.text == request.title)
    #expect(members["callback_id"]?.text == request.callbackID?.text)
    #expect(members["sync_publish"] == (version == 3 ? .bool(request.syncPublish) : nil))
  }

  @Test("a title that only is the export's name reaches a receiver of version 1 as the path's end")
  func defaultTitle() async throws {
    try await VersionedPlugin.run([Self.receivers[0]]) { scene in
      let end = try await scene.client.send(try scene.request("one", title: "cut 1"))
      #expect(end.isSuccess)
      #expect(try scene.noted("requests", by: "one").last?["title"] == nil)
    }
  }

  @Test("protocol_versions narrows what a receiver says")
  func configured() async throws {
    let narrowed = VersionedPlugin(
      name: "narrow",
      versions: "[1, 2, 3]",
      settings: "protocol_versions = [1]"
    )
    let apart = VersionedPlugin(
      name: "apart",
      versions: "[1, 2]",
      settings: "protocol_versions = [3]"
    )
    try await VersionedPlugin.run([narrowed, apart]) { scene in
      let end = try await scene.client.send(try scene.request("narrow"))
      #expect(end.isSuccess)
      #expect(try await scene.recordedVersion(end.id) == 1)
      let refused = try await scene.client.send(try scene.request("apart"))
      #expect(refused.error?.code == .versionIncompatible)
      #expect(
        refused.error?.message
          == "no protocol version in common: the broker writes 3, the receiver reads 1, 2"
      )
    }
  }

  @Test("after a crash a receiver is asked with the request in the version in which it was sent")
  func reconciling() async throws {
    let holder = VersionedPlugin(name: "one", versions: "[1]", mode: "holds")
    try await VersionedPlugin.run([holder]) { scene in
      let sent = try await scene.client.submit(try scene.request("one", title: "cut 1"))
      _ = try await scene.scene.broker.wait("show", BytePath(sent.id)) {
        $0["status"]?.text == "accepted"
      }
      await scene.scene.broker.end(SIGKILL)
      try await scene.scene.broker.start()
      let end = try await scene.client.wait(for: sent.id)
      #expect(end.isSuccess, "\(end.outcome)")
      let before = try #require(try scene.noted("requests", by: "one").last)
      let asked = try #require(try scene.noted("reconciled", by: "one").last)
      #expect(before == asked)
      #expect(asked["protocol_version"]?.integer == 1)
      #expect(asked["local_identifier"]?.text == scene.assets[0].text)
    }
  }

  @Test("a script is given the highest configured version, and answers in it")
  func exec() async throws {
    let script = """
      state=$(tee $HANDOFF_WORK/request | sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p'); \
      printf '{"protocol_version":%s,"state":"%s","result":"success"}\\n' $0 "$state"
      """
    let destinations = [("right", 2, [1, 2]), ("wrong", 3, [1])].map { name, answer, versions in
      """
      [destination.\(name)]
      transport = "exec"
      command = ["/bin/sh", "-c", '''\(script)''', "\(answer)"]
      containment = "none"
      protocol_versions = \(versions)

      """
    }
    try await VersionedPlugin.run([], more: destinations.joined()) { scene in
      let right = try await scene.client.send(try scene.request("right", title: "Day 1"))
      #expect(right.isSuccess, "\(right.outcome)")
      let request = try #require(try scene.noted("request", by: "right").first)
      #expect(request["protocol_version"]?.integer == 2)
      #expect(request["title"]?.text == "Day 1")
      let wrong = try await scene.client.send(try scene.request("wrong"))
      guard case .outcomeUnknown(let error) = wrong.outcome else {
        Issue.record("\(wrong.outcome)")
        return
      }
      #expect(error?.code == .malformedResult && error?.effect == .unknown)
      let fault = "result of version 3 for a request of version 1"
      #expect(error?.message.contains(fault) == true)
      let titled = try await scene.client.send(
        try scene.request("wrong", title: "Day 1"),
        again: true
      )
      #expect(titled.error?.code == .versionIncompatible)
      #expect(
        titled.error?.message == "protocol version 1 cannot carry title: the broker writes 1, the "
          + "receiver reads 1"
      )
    }
  }

  @Test("Case 94: a plugin of other versions is settled at discover, and nothing waits in silence")
  func case94() async throws {
    let plugins = [
      VersionedPlugin(name: "zero", versions: "[0]"),
      VersionedPlugin(name: "later", versions: "[99]"),
      VersionedPlugin(name: "untold", versions: "none"),
      VersionedPlugin(name: "all", versions: "\(Array(1...99))"),
      VersionedPlugin(name: "crossed", versions: "[1]", mode: "two"),
      VersionedPlugin(name: "newer", versions: "[3]", mode: "newer"),
    ]
    try await VersionedPlugin.run(plugins) { scene in
      for (name, reads) in [("zero", "0"), ("later", "99"), ("untold", "none")] {
        let detail = try await scene.detail(of: name, when: "down")
        #expect(
          detail == "no protocol version in common: the broker writes 1, 2, 3, the receiver reads "
            + reads
        )
        try await Self.expectRefusal(of: try scene.request(name), scene, reading: reads)
      }
      let all = try await scene.client.send(try scene.request("all"))
      #expect(all.isSuccess)
      #expect(try await scene.recordedVersion(all.id) == 3)
      let newer = try await scene.client.send(try scene.request("newer"))
      #expect(newer.isSuccess)
      #expect(
        try scene.noted("refusals", by: "newer").map { $0["message"]?.text }
          == ["unsupported: asset.dream"]
      )
      let crossed = try await scene.client.send(try scene.request("crossed"))
      guard case .outcomeUnknown(let error) = crossed.outcome else {
        Issue.record("\(crossed.outcome)")
        return
      }
      #expect(error?.code == .malformedResult)
      #expect(error?.message == "result of version 2 for a request of version 1")
      #expect(
        try scene.noted("refusals", by: "crossed").map { $0["data"]?["code"]?.text }
          == ["malformed_result"]
      )
    }
  }
}
