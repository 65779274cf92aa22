import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

extension ServerTests.MediaWiki {
  /// What the wiki refuses, and what is said of it.
  private static let refusals: [(php: String, code: ErrorCode, retry: RetryAdvice)] = [
    ("$wgReadOnly = 'the database moves';", .destinationUnavailable, .later),
    ("$wgEnableUploads = false;", .notConfigured, .afterFix),
    ("$wgFileExtensions = ['ogv'];", .unsupportedMedia, .never),
    ("$wgMaxUploadSize = 100000;", .sizeOutOfRange, .never),
    (
      "$wgGroupPermissions['user']['upload'] = false; $wgGroupPermissions['*']['upload'] = false;"
        + "$wgGroupPermissions['sysop']['upload'] = false;", .auth, .afterFix
    ),
    (
      "http_response_code(503); header('Retry-After: 17'); exit('<html>busy</html>');", .network,
      .later
    ),
    ("echo '<html>a portal of the hotel</html>'; exit;", .network, .later),
    (
      "if (isset($_FILES['chunk'])) { echo json_encode(['error' => ['code' => 'ratelimited', "
        + "'info' => 'too often']]); exit; }", .quota, .later
    ),
    (
      "header('Retry-After: 5'); echo json_encode(['error' => ['code' => 'maxlag', 'info' => 'lag']]);"
        + "exit;", .destinationUnavailable, .later
    ),
  ]

  @Test(
    "a refusal publishes nothing, says why, and the next attempt publishes",
    arguments: refusals
  )
  func refuses(php: String, code: ErrorCode, retry: RetryAdvice) async throws {
    let delivery = try await WikiDelivery()
    try delivery.wiki.behave(php)
    let refused = try await delivery.deliver(delivery.plugin(), title: "Refusals")
    try delivery.wiki.behave("")
    #expect(refused.failure?.code == code, "\(refused)")
    #expect(refused.failure?.effect == Effect.none)
    #expect(refused.failure?.retry == retry)
    try await delivery.expectNothing()
    let outcome = try await delivery.deliver(delivery.plugin(), title: "Refusals", attempt: 2)
    try await delivery.expectPublished(outcome)
  }

  @Test("a wrong password is told as one, without the password")
  func wrongPassword() async throws {
    let delivery = try await WikiDelivery()
    let plugin = delivery.plugin(password: "a-wrong-password-0123456789")
    let refused = try await delivery.deliver(plugin, title: "Wrong")
    #expect(refused.failure?.code == .auth)
    #expect(refused.failure?.retry == .afterFix)
    #expect(refused.failure?.effect == Effect.none)
    #expect(refused.failure?.message.contains("a-wrong") == false)
    try await delivery.expectNothing()
  }

  @Test("bytes that are no video of their ending are refused for ever")
  func wrongType() async throws {
    let delivery = try await WikiDelivery(Array("this is no video".utf8) + [1, 2, 3])
    let refused = try await delivery.deliver(delivery.plugin(), title: "No video")
    #expect(refused.failure?.code == .unsupportedMedia, "\(refused)")
    #expect(refused.failure?.retry == .never)
    #expect(refused.failure?.effect == Effect.none)
    try await delivery.expectNothing()
  }

  @Test("a token that the wiki does not take is made anew, and a lost session too")
  func lostSessions() async throws {
    for (name, php) in [
      (
        "token",
        "if (($_POST['action'] ?? '') === 'upload' && !touch_once()) { $_POST['token'] = 'x'; }"
      ),
      ("session", "if (isset($_POST['filekey']) && !touch_once()) { $_COOKIE = []; }"),
    ] {
      let delivery = try await WikiDelivery()
      try delivery.wiki.behave(
        """
        function touch_once() {
          global $handoffRoot;
          $path = "$handoffRoot/\(name).once";
          return is_file($path) || !touch($path);
        }
        \(php)
        """
      )
      let outcome = try await delivery.deliver(delivery.plugin(), title: "Lost \(name)")
      try delivery.wiki.behave("")
      #expect(try FileStatus.of(delivery.wiki.root.appending(BytePath("\(name).once"))) != nil)
      try await delivery.expectPublished(outcome)
      try delivery.expectNoSecrets()
    }
  }

  @Test("a chunk that is too large for the server's PHP is made smaller")
  func largeChunks() async throws {
    let wiki = try Wiki.running()
    let large = try await WikiDelivery(try await wiki.video() + Self.void(2_600_000))
    let outcome = try await large.deliver(
      large.plugin(["chunk_size": .integer(8 << 20)]),
      title: "Large chunks"
    )
    try await large.expectPublished(outcome)
  }
}
