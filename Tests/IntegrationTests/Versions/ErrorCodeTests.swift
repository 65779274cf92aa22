import HandoffClient
import HandoffProtocol
import LinuxSystem
import Paths
import Testing

/// Each code of the protocol, as a sender meets it; ErrorCodeTable of StyleTests lists them all.
@Suite("Error codes", .timeLimit(.minutes(2)))
struct ErrorCodeTests {
  private static func exec(_ name: String, _ more: String) -> String {
    """
    [destination.\(name)]
    transport = "exec"
    command = ["/bin/true"]
    \(more)

    """
  }

  /// A destination for each thing that the sender's checks refuse.
  private static let limits: [(name: String, code: ErrorCode, settings: String)] = [
    ("codecs", .unsupportedMedia, "constraints = { video_codecs = [\"prores\"] }"),
    ("short", .durationOutOfRange, "constraints = { max_duration = \"1ms\" }"),
    ("small", .sizeOutOfRange, "constraints = { max_size = \"1kB\" }"),
    ("single", .countOutOfRange, "constraints = { max_count = 1 }"),
    ("limited", .accessLimited, "folders = [\"exports\"]"),
    ("old", .versionIncompatible, "protocol_versions = [1]"),
  ]

  @Test("what the sender's checks refuse has its code and side, in a dry run and when it is sent")
  func senderChecks() async throws {
    let destinations = Self.limits.map { Self.exec($0.name, $0.settings) }.joined()
    try await VersionedPlugin.run([], more: destinations) { scene in
      for (name, code, _) in Self.limits {
        let request = try scene.request(name, 2, title: "Day 1")
        let end = try await scene.client.send(request)
        guard case .refused(let error) = end.outcome else {
          Issue.record("\(name): \(end.outcome)")
          continue
        }
        #expect(error.code == code && error.effect == .none, "\(name): \(error)")
        #expect(end.side == .sender)
        let words = scene.assets.map { BytePath($0.text) }
        let dry = try await scene.scene.broker.command(
          ["send"] + words + ["--to", BytePath(name), "--title", "Day 1", "--dry-run"]
        )
        #expect(dry.code == 4)
        #expect(dry.errors.contains("refused by the sender's checks: \(code): "), "\(dry.errors)")
      }
    }
  }

  @Test("what no handoff is made of is refused with its code at once")
  func unmade() async throws {
    let callback = "[callback.editor]\nexec = [\"/bin/true\"]\n"
    try await VersionedPlugin.run([], more: Self.exec("done", "") + callback) { scene in
      let good = try scene.request("done")
      var twice = good
      twice.localIdentifiers.append(scene.assets[0])
      var nowhere = good
      nowhere.destination = try #require(DestinationName("nowhere"))
      var unheard = good
      unheard.callbackID = CallbackID("nobody")
      var late = good
      late.expiresAt = Timestamp(milliseconds: 1)
      var unknown = good
      let other = "00112233-4455-8677-8899-AABBCCDDEEFF/L0/001"
      unknown.localIdentifiers = [try #require(LocalIdentifier(other))]
      for (request, code) in [
        (twice, ErrorCode.malformedRequest), (nowhere, .destinationUnknown),
        (unheard, .callbackUnknown), (late, .expired), (unknown, .assetMissing),
      ] {
        try await expect(code, scene, request)
      }
      var keyed = good
      keyed.key = "mine"
      #expect(try await scene.client.send(keyed).isSuccess)
      try await expect(.alreadyHandedOff, scene, good)
      keyed.title = "another"
      try await expect(.keyReused, scene, keyed)
      let delete = try await scene.scene.broker.command(
        ["delete", BytePath(scene.assets[0].text), "--force"]
      )
      #expect(delete.code == 0, "\(delete.errors)")
      try await expect(.assetDeleted, scene, good)
    }
  }

  private func expect(
    _ code: ErrorCode,
    _ scene: VersionScene,
    _ request: SendRequest
  ) async throws {
    let thrown = await #expect(throws: HandoffClientError.self, "\(code)") {
      try await scene.client.send(request)
    }
    #expect(thrown?.code == code, "\(code): \(thrown?.message ?? "none")")
    #expect(thrown?.message.hasPrefix("\(code): ") == true)
  }

  @Test("what a receiver says has its code and side, whatever the code is")
  func receiverCodes() async throws {
    let codes = [
      "auth", "quota", "network", "not_configured", "dependency_failed", "library_unavailable",
      "destination_unavailable", "receiver_failed", "interrupted", "something_of_tomorrow",
    ]
    let script = """
      state=$(sed -n 's/.*"state":"\\([^"]*\\)".*/\\1/p'); \
      printf '{"protocol_version":3,"state":"%s","result":"failure","error":{"code":"%s","effect":"none"}}\\n' \
      "$state" "$0"
      """
    let destinations = codes.map { code in
      """
      [destination.\(code)]
      transport = "exec"
      command = ["/bin/sh", "-c", '''\(script)''', "\(code)"]
      containment = "none"

      """
    }
    try await VersionedPlugin.run([], more: destinations.joined()) { scene in
      for code in codes {
        let end = try await scene.client.send(try scene.request(code))
        #expect(end.error?.code == ErrorCode(code), "\(code): \(end.outcome)")
        #expect(end.side == .receiver)
      }
    }
  }
}
