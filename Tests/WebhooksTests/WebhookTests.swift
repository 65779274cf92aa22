import HandoffProtocol
import HandoffTestSupport
import Testing
import Webhooks

@Suite("Standard Webhooks", .timeLimit(.minutes(1)))
struct WebhookTests {
  /// The specification's own vector.
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
  private static let moment = Timestamp(milliseconds: 1_614_265_330_000)
  private static let body = Array(#"{"test": 2432232314}"#.utf8)
  private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  private static let other = "whsec_" + "b3RoZXItb3RoZXItb3RoZXItb3RoZXIt"

  private static func headers(
    id: String? = id,
    timestamp: String? = "1614265330",
    signature: String? = signature
  ) -> [String: String] {
    var headers: [String: String] = [:]
    headers["webhook-id"] = id
    headers["webhook-timestamp"] = timestamp
    headers["webhook-signature"] = signature
    return headers
  }

  private static func verify(
    _ headers: [String: String],
    body: [UInt8] = body,
    with secrets: [String] = [secret],
    at now: Timestamp = moment
  ) throws -> Int {
    let webhook = try ReceivedWebhook(body: body) { headers[$0] }
    return try webhook.verify(secrets.map { try WebhookSecret($0) }, now: now)
  }

  @Test("The specification's vector is what is signed")
  func vectorIsSigned() throws {
    let signer = WebhookSigner([try WebhookSecret(Self.secret)])
    let headers = try signer.headers(id: Self.id, at: Self.moment, body: Self.body)
    #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
    #expect(headers.map(\.value) == [Self.id, "1614265330", Self.signature])
  }

  @Test("The specification's vector is verified")
  func vectorIsVerified() throws {
    #expect(try Self.verify(Self.headers()) == 0)
  }

  @Test("A message signed with the new and the old secret is verified by who knows either")
  func rotation() throws {
    let both = [try WebhookSecret(Self.other), try WebhookSecret(Self.secret)]
    let signed = try WebhookSigner(both).headers(id: "h1", at: Self.moment, body: Self.body)
    let headers = Dictionary(signed.map { ($0.name, $0.value) }) { first, _ in first }
    #expect(headers["webhook-signature"]?.split(separator: " ").count == 2)
    #expect(try Self.verify(headers, with: [Self.secret]) == 0)
    #expect(try Self.verify(headers, with: [Self.other]) == 0)
    #expect(try Self.verify(Self.headers(), with: [Self.other, Self.secret]) == 1)
  }

  @Test("A changed body, id, timestamp or secret does not fit")
  func changes() throws {
    let cases: [([String: String], [UInt8], String)] = [
      (Self.headers(), Self.body + [0x20], Self.secret),
      (Self.headers(id: "msg_other"), Self.body, Self.secret),
      (Self.headers(timestamp: "1614265331"), Self.body, Self.secret),
      (Self.headers(), Self.body, Self.other),
      (Self.headers(), [], Self.secret),
    ]
    for (headers, body, secret) in cases {
      #expect(throws: WebhookError.noSignatureFits) {
        try Self.verify(headers, body: body, with: [secret])
      }
    }
  }

  @Test(
    "Other schemes and broken parts of the list are passed over",
    arguments: [
      ("v1a,AAAA \(signature)", true), ("\(signature) v2,\(signature)", true),
      ("v1,!!! v1 , \(signature)", true),
      ("v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", false),
      ("v1,", false), ("v1,g0hM9SsE", false),
      ("g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", false),
      ("", false),
    ]
  )
  func lists(signature: String, fits: Bool) throws {
    let headers = Self.headers(signature: signature)
    if fits {
      #expect(try Self.verify(headers) == 0)
    } else {
      #expect(throws: WebhookError.noSignatureFits) { try Self.verify(headers) }
    }
  }

  @Test(
    "A clock may be five minutes off and no more",
    arguments: [
      (-300_000, nil), (300_000, nil), (300_001, WebhookError.tooOld),
      (-300_001, WebhookError.tooNew), (Int64.max - moment.milliseconds, WebhookError.tooOld),
    ] as [(Int64, WebhookError?)]
  )
  func tolerance(offset: Int64, error: WebhookError?) throws {
    let now = Timestamp(milliseconds: Self.moment.milliseconds + offset)
    if let error {
      #expect(throws: error) { try Self.verify(Self.headers(), at: now) }
    } else {
      #expect(try Self.verify(Self.headers(), at: now) == 0)
    }
  }

  @Test("A missing header is named")
  func missing() throws {
    #expect(throws: WebhookError.missingHeader("webhook-id")) {
      try Self.verify(Self.headers(id: nil))
    }
    #expect(throws: WebhookError.missingHeader("webhook-timestamp")) {
      try Self.verify(Self.headers(timestamp: nil))
    }
    #expect(throws: WebhookError.missingHeader("webhook-signature")) {
      try Self.verify(Self.headers(signature: nil))
    }
  }

  @Test(
    "A timestamp is a plain number of seconds",
    arguments: [
      "", "-1", "+1614265330", "01614265330", "1614265330.0", " 1614265330", "1e9", "٣",
      "9999999999999", "99999999999999999999999999",
    ]
  )
  func timestamps(text: String) throws {
    #expect(throws: WebhookError.malformedHeader("webhook-timestamp")) {
      try Self.verify(Self.headers(timestamp: text))
    }
  }

  @Test(
    "An id is printable and has no full stop, so that it cannot stand for another id and timestamp",
    arguments: ["", "a.b", "a b", "a\n", "é", String(repeating: "a", count: 257)]
  )
  func ids(text: String) throws {
    #expect(throws: WebhookError.malformedHeader("webhook-id")) {
      try Self.verify(Self.headers(id: text))
    }
    let signer = WebhookSigner([try WebhookSecret(Self.secret)])
    #expect(throws: WebhookError.malformedHeader("webhook-id")) {
      try signer.headers(id: text, at: Self.moment, body: [])
    }
  }

  @Test("A list of signatures without end is not read")
  func longList() throws {
    let list = String(repeating: Self.signature + " ", count: 1000)
    #expect(throws: WebhookError.malformedHeader("webhook-signature")) {
      try Self.verify(Self.headers(signature: list))
    }
  }
}
