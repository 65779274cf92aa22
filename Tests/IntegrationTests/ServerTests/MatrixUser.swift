import HTTPClient
import HandoffProtocol
import Paths
import Testing

/// An account of a Synapse, used as a person's client would.
struct MatrixUser: Sendable {
  let synapse: Synapse
  let id: String
  let token: String

  private static let http = HTTPClient(agent: "test")

  /// Makes an account that may send as much as it likes, and logs in.
  static func make(_ synapse: Synapse, _ name: String) async throws -> MatrixUser {
    let administrator = try await login(synapse, "admin")
    let id = "@\(name):\(Synapse.name)"
    let account: JSONValue = .object(["password": .string("password")])
    _ = try await administrator.ask("PUT", "/_synapse/admin/v2/users/\(id)", account)
    _ = try await administrator.ask(
      "POST",
      exception(id),
      .object(["messages_per_second": .integer(0), "burst_count": .integer(0)])
    )
    return try await login(synapse, name)
  }

  /// From now on the server's limits on messages apply to it.
  func limit() async throws {
    let administrator = try await Self.login(synapse, "admin")
    _ = try await administrator.ask("DELETE", Self.exception(id))
  }

  private static func exception(_ id: String) -> String {
    "/_synapse/admin/v1/users/\(id)/override_ratelimit"
  }

  /// Logs in, as a new device.
  static func login(_ synapse: Synapse, _ name: String) async throws -> MatrixUser {
    let body: JSONValue = .object([
      "type": .string("m.login.password"), "password": .string("password"),
      "identifier": .object(["type": .string("m.id.user"), "user": .string(name)]),
    ])
    let nobody = MatrixUser(synapse: synapse, id: "", token: "")
    let answer = try await nobody.ask("POST", "/_matrix/client/v3/login", body)
    return MatrixUser(
      synapse: synapse,
      id: try answer.text(of: "user_id"),
      token: try answer.text(of: "access_token")
    )
  }

  /// A new room, which everybody may join.
  func room(
    alias: String? = nil,
    isEncrypted: Bool = false,
    historyVisibility: String? = nil,
    powerForMessages: Int64 = 0
  ) async throws -> String {
    var members: [String: JSONValue] = [
      "preset": .string("public_chat"),
      "power_level_content_override": .object(["events_default": .integer(powerForMessages)]),
    ]
    if let alias { members["room_alias_name"] = .string(alias) }
    var state: [JSONValue] = []
    if isEncrypted {
      state.append(Self.state("m.room.encryption", "algorithm", "m.megolm.v1.aes-sha2"))
    }
    if let historyVisibility {
      state.append(
        Self.state("m.room.history_visibility", "history_visibility", historyVisibility)
      )
    }
    members["initial_state"] = .array(state)
    return try await ask("POST", "/_matrix/client/v3/createRoom", .object(members))
      .text(of: "room_id")
  }

  private static func state(_ type: String, _ member: String, _ value: String) -> JSONValue {
    .object([
      "type": .string(type), "state_key": .string(""), "content": .object([member: .string(value)]),
    ])
  }

  func join(_ room: String) async throws {
    _ = try await ask("POST", "/_matrix/client/v3/join/\(encoded(room))", .object([:]))
  }

  /// Sends a text message.
  @discardableResult
  func say(_ text: String, in room: String, id: String) async throws -> String {
    let body: JSONValue = .object(["msgtype": .string("m.text"), "body": .string(text)])
    return try await send(body, in: room, id: id)
  }

  /// Sends any message, with a transaction id.
  func send(_ content: JSONValue, in room: String, id: String) async throws -> String {
    let path = "/_matrix/client/v3/rooms/\(encoded(room))/send/m.room.message/\(id)"
    return try await ask("PUT", path, content).text(of: "event_id")
  }

  /// Takes a message away.
  func redact(_ event: String, in room: String) async throws {
    let place = "\(encoded(room))/redact/\(encoded(event))/r"
    _ = try await ask("PUT", "/_matrix/client/v3/rooms/\(place)", .object([:]))
  }

  /// The messages of a room that show media, oldest first.
  func videos(in room: String) async throws -> [JSONValue] {
    let path = "/_matrix/client/v3/rooms/\(encoded(room))/messages?dir=f&limit=1000"
    let messages = try await ask("GET", path)["chunk"]?.elements ?? []
    return messages.filter { $0["content"]?["url"] != nil }
  }

  /// The bytes behind an `mxc:` address.
  func download(_ uri: String) async throws -> [UInt8] {
    let path = "/_matrix/client/v1/media/download/\(uri.dropFirst("mxc://".count))"
    var request = request("GET", path)
    request.limits.body = 1 << 28
    let reply = try await Self.http.exchange(request)
    try #require(reply.status == 200)
    return reply.body
  }

  /// How many uploads the server keeps of the account.
  func uploads() async throws -> Int64 {
    let administrator = try await Self.login(synapse, "admin")
    let path = "/_synapse/admin/v1/users/\(id)/media"
    return try #require(try await administrator.ask("GET", path)["total"]?.integer)
  }

  /// Makes a request that must succeed.
  func ask(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
    var request = request(method, path)
    if let body {
      request.body = .bytes(try WireCoder.encode(body), contentType: "application/json")
    }
    let reply = try await Self.http.exchange(request)
    let text = String(decoding: reply.body, as: UTF8.self)
    try #require((200..<300).contains(reply.status), "\(method) \(path): \(reply.status) \(text)")
    return try WireCoder.decode(JSONValue.self, from: reply.body, limit: .max)
  }

  private func request(_ method: String, _ path: String) -> HTTPRequest {
    HTTPRequest(
      method,
      synapse.url + path,
      headers: token.isEmpty ? [] : [("Authorization", "Bearer \(token)")]
    )
  }

  private func encoded(_ text: String) -> String { PercentEncoding.encode(text) }
}
