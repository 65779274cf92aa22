import HandoffProtocol
import HandoffTestSupport
import Testing
import Webhooks

@Suite("Webhook secrets", .timeLimit(.minutes(1)))
struct WebhookSecretTests {
  /// Base64 of so many zero bytes.
  private static func encoded(_ count: Int) -> String {
    let whole = String(repeating: "AAAA", count: count / 3)
    return switch count % 3 {
    case 0: whole
    case 1: whole + "AA=="
    default: whole + "AAA="
    }
  }

  @Test("A key has 24 to 64 bytes", arguments: [24, 32, 64])
  func good(count: Int) throws {
    _ = try WebhookSecret("whsec_" + Self.encoded(count))
  }

  @Test(
    "Others are refused, and the error tells no more than the length",
    arguments: [
      ("whsec_" + encoded(23), .tooShort(23)), ("whsec_" + encoded(65), .tooLong(65)),
      ("whsec_", .tooShort(0)), ("whsec_!private! and long enough for a key", .notBase64),
      ("", .tooShort(0)), ("short", .tooShort(5)),
      (String(repeating: "x", count: 1025), .tooLong(1025)),
    ] as [(String, WebhookSecretFault)]
  )
  func bad(text: String, fault: WebhookSecretFault) {
    #expect(throws: fault) { try WebhookSecret(text) }
    if text.count > 10 { #expect(!"\(fault)".contains(text.dropFirst(6).prefix(8))) }
  }

  @Test("A plain text is a key as it is, without the line feed of its file")
  func plain() throws {
    let text = "a plain text of thirty-three byte"
    let body = Array("x".utf8)
    let headers = try WebhookSigner([WebhookSecret(text + "\n")])
      .headers(id: "m", at: .init(milliseconds: 0), body: body)
    let values = Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }
    let webhook = try ReceivedWebhook(body: body) { values[$0] }
    #expect(try webhook.isSigned(with: WebhookSecret(text)))
    #expect(try !webhook.isSigned(with: WebhookSecret(text + "x")))
  }

  @Test("A secret does not show itself")
  func redaction() throws {
    let secret = try WebhookSecret("a plain text of thirty-three byte")
    var dumped = ""
    dump(secret, to: &dumped)
    for shown in ["\(secret)", String(reflecting: secret), dumped] {
      #expect(!shown.contains("plain"))
      #expect(!shown.contains("97"))
    }
  }
}
