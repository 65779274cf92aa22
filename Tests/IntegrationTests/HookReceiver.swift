import Glibc
import HTTPClient
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing
import Webhooks

/// A service on the loopback interface that is sent handoffs, does what a test says, and can answer as the
/// protocol has it: verify, read assets with the grant, bring results.
final class HookReceiver: Sendable {
  /// A request that this receiver was sent.
  struct Delivery: Sendable {
    let id: String
    let request: HandoffRequest
    let grant: String?
    let assets: String?
    let isSigned: Bool
  }

  typealias Behaviour = @Sendable (Delivery) -> LoopbackServer.Answer

  static let secret = "a secret that both sides have"
  static let otherSecret = "another secret, of the other side"

  /// Answers everything so.
  static func answering(_ answer: LoopbackServer.Answer) -> Behaviour {
    { _ in answer }
  }

  private let server: LoopbackServer
  private let client = HTTPClient(agent: "test")

  /// - Parameters:
  ///   - port: 0 for a free one.
  ///   - secret: what the requests are verified with.
  ///   - behaviour: called on a thread of its own for each request.
  /// - Throws: where the system gives no socket or the port is taken.
  init(
    port: Int = 0,
    secret: String = HookReceiver.secret,
    _ behaviour: @escaping Behaviour
  ) throws {
    server = try LoopbackServer(port: port) { received in
      do {
        return behaviour(try Delivery(received, secret: secret))
      } catch {
        return .reply(400, body: Array("\(error)".utf8))
      }
    }
  }

  var url: String { server.url + "/hook" }
  var port: Int { server.port }

  /// What was sent here so far, in order.
  var deliveries: [Delivery] {
    get throws { try server.requests.map { try Delivery($0, secret: Self.secret) } }
  }

  /// The first request that was sent here, awaited.
  func first() async throws -> Delivery {
    let found = try await poll { try self.deliveries.first }
    return try #require(found)
  }

  func stop() { server.stop() }

  /// Brings a result, or anything else, to the broker.
  func bring(
    _ body: [UInt8],
    to broker: RunningBroker,
    secret: String = HookReceiver.secret,
    id: String = "result-1",
    at moment: Timestamp? = nil,
    host: String? = nil
  ) async throws -> HTTPReply {
    let signer = WebhookSigner([try WebhookSecret(secret)])
    var headers = try signer.headers(id: id, at: moment ?? .now, body: body)
    if let host { headers.append((name: "Host", value: host)) }
    return try await client.exchange(
      HTTPRequest(
        "POST",
        try broker.api + "/v3/results",
        headers: headers,
        body: .bytes(body, contentType: "application/json")
      )
    )
  }

  /// Brings a success.
  func succeed(
    _ delivery: Delivery,
    at broker: RunningBroker,
    secret: String = HookReceiver.secret
  ) async throws -> HTTPReply {
    let result = HandoffResult(state: delivery.request.state, outcome: .success(output: [:]))
    return try await bring(try WireCoder.encode(result), to: broker, secret: secret)
  }

  /// Reads an asset as the delivery says.
  func read(
    _ delivery: Delivery,
    method: String = "GET",
    uuid: String? = nil,
    headers: [(name: String, value: String)] = []
  ) async throws -> HTTPReply {
    let identifier = try #require(delivery.request.localIdentifiers.first)
    let assets = try #require(delivery.assets)
    let grant = try #require(delivery.grant)
    var request = HTTPRequest(
      method,
      "\(assets)/\(uuid ?? identifier.uuid)/data",
      headers: [(name: "Authorization", value: "Bearer \(grant)")] + headers
    )
    request.limits.body = 1 << 26
    return try await client.exchange(request)
  }
}

extension HookReceiver.Delivery {
  init(_ received: LoopbackServer.Request, secret: String) throws {
    let webhook = try ReceivedWebhook(body: received.body) { received.headers[$0] }
    isSigned = try webhook.isSigned(with: try WebhookSecret(secret))
    id = webhook.id
    request = try WireCoder.decode(HandoffRequest.self, from: received.body)
    grant = received.headers["handoff-grant"]
    assets = received.headers["handoff-assets"]
  }
}

extension RunningBroker {
  /// Where this broker's API is.
  var api: String {
    get throws {
      let path = root.appending("state/api-address")
      let bytes = try FileDescriptor.open(path, 0).readAll(limit: 1000)
      return "http://" + String(decoding: bytes, as: UTF8.self).split(separator: "\n")[0]
    }
  }
}

extension HTTPReply {
  /// The `code` of a problem document.
  var code: String? {
    try? WireCoder.decode(JSONValue.self, from: body)["code"]?.text
  }
}

extension Timestamp {
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
