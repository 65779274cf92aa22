import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests.MediaWiki {
  @Test(
    "the plugin, killed at every step, publishes once and says so",
    arguments: [("http.send", 10), ("http.answer", 10), ("journal", 4)]
  )
  func pluginKilled(point: String, least: Int) async throws {
    let steps = try await KillWalk(point: point).run { faults in
      let delivery = try await WikiDelivery()
      // Two chunks.
      let plugin = delivery.plugin(["chunk_size": .integer(131_072)])
      let ended = try await plugin.deliverOverCrashes(
        delivery.submitted("Killed \(delivery.id)"),
        delivery.asset.grants,
        faults: faults
      )
      let file = try await delivery.expectPublished(ended.outcome)
      // No doubt about an earlier process has given it another name.
      #expect(file["name"]?.text == "Killed_\(delivery.id).webm", "\(faults)")
      return ended.processes
    }
    #expect(steps >= least)
  }

  /// PHP that does something at one request in the life of its file, before MediaWiki sees it.
  private static func once(_ name: String, if condition: String, _ action: String) -> String {
    """
    if (\(condition)) {
      $once = "$handoffRoot/\(name).once";
      if (!is_file($once) && touch($once)) { \(action) }
    }
    """
  }

  @Test(
    "the server, killed while it gets a chunk or publishes and started again, has it once",
    arguments: [
      ("chunk", "($_POST['offset'] ?? 0) > 100000"), ("publish", "isset($_POST['comment'])"),
    ]
  )
  func serverKilled(step: String, condition: String) async throws {
    let delivery = try await WikiDelivery()
    let wiki = delivery.wiki
    let name = "server-\(step)"
    try wiki.behave(Self.once(name, if: condition, "posix_kill(-posix_getpgrp(), 9);"))
    async let outcome = delivery.deliver(delivery.plugin(), title: "Server killed at \(step)")
    let isDown = try await poll { Loopback.accepts(wiki.port) ? nil : true }
    #expect(isDown == true)
    await wiki.stop()
    try wiki.behave("")
    try await wiki.start()
    let first = try await outcome
    guard first.output == nil else {
      try await delivery.expectPublished(first)
      return
    }
    // Nothing listened for longer than it waited: it may not have said more than it knew.
    #expect(first.failure?.effect == Effect.none || step == "publish", "\(first)")
    let second = try await delivery.deliver(
      delivery.plugin(),
      title: "Server killed at \(step)",
      attempt: 2
    )
    try await delivery.expectPublished(second)
  }

  @Test(
    "an answer to publishing that is lost is found out",
    arguments: [
      "ob_start(fn($body) => '');", "ob_start(fn($body) => '<html>502</html>');",
      "http_response_code(502); exit;", "exit;",
    ]
  )
  func lostAnswer(action: String) async throws {
    let delivery = try await WikiDelivery()
    let condition = "isset($_POST['comment'])"
    try delivery.wiki.behave(Self.once("lost-\(delivery.id)", if: condition, action))
    let outcome = try await delivery.deliver(delivery.plugin(), title: "Lost answer")
    try delivery.wiki.behave("")
    try await delivery.expectPublished(outcome)
  }

  @Test("two at once, and one of them published by somebody else's hand, are one file each")
  func together() async throws {
    let first = try await WikiDelivery()
    let second = try await WikiDelivery()
    async let one = first.deliver(first.plugin(), title: "Together")
    async let other = second.deliver(second.plugin(), title: "Together")
    let (left, right) = (try await one, try await other)
    try await first.expectPublished(left)
    try await second.expectPublished(right)
    #expect(left.output?["filename"] != right.output?["filename"])
  }
}
