import HTTPClient
import HandoffPluginKit
import HandoffProtocol

/// Publishes a video as a message in a room of a Matrix server (Synapse and others, version 1.11 of the API).
///
/// The key of a post is the request's transaction id and a member of the event. Servers know a transaction
/// id for a while, for one access token's device; the event itself is found for ever, whatever the token.
struct MatrixPlatform: Platform {
  static let name = "matrix"
  static let settingsProperties: [String: JSONValue] = [
    "room": .object(["type": .string("string"), "pattern": .string("^[!#]")]),
    "msgtype": .object([
      "type": .string("string"), "enum": .array([.string("m.video"), .string("m.file")]),
    ]),
  ]

  private let client: MatrixClient
  private let room: MatrixRoom
  private let type: String
  /// Between two looks whether an upload has arrived.
  private let interval: Duration

  init(_ settings: PlatformSettings) throws(ResultError) {
    let name = try settings.required("room")
    guard name.hasPrefix("!") || (name.hasPrefix("#") && name.contains(":")),
      name.utf8.count <= 255, name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
    else {
      throw .notConfigured("settings.room is no room id (!…) and no alias (#name:server)")
    }
    type = settings.text("msgtype") ?? "m.video"
    guard type == "m.video" || type == "m.file" else {
      throw .notConfigured("settings.msgtype is neither m.video nor m.file")
    }
    interval = .seconds(settings.pollInterval)
    client = MatrixClient(settings)
    room = MatrixRoom(client: client, name: name)
  }

  /// Nothing is repeated before it was looked for.
  ///
  /// Synapse keeps a transaction id for a day, and for one device: a token that was replaced meanwhile has
  /// none of them. Looking for the event is sure in both cases, so that comes first.
  var keyLifetime: Duration { .zero }

  func limits() async throws -> Constraints {
    var constraints = Constraints()
    constraints.maxSize = try await client.uploadLimit()
    return constraints
  }

  /// An event has at most 64 KiB, its text in it twice, and a character has up to four bytes.
  func furtherLimits() async throws -> FurtherLimits {
    FurtherLimits(characters: 6000)
  }

  func account() async throws -> String {
    let user = try await client.account()
    try await room.check(try await room.id(), for: user)
    return "\(user), who can publish in \(room.name)"
  }

  func prepare(_ upload: Upload) async throws -> JSONValue {
    let user = try await client.account()
    let id = try await room.id()
    try await room.check(id, for: user)
    let media = try await MatrixUpload(client: client, upload: upload, interval: interval).run()
    return MatrixPrepared(media, upload, user: user, room: id, roomName: room.name).recorded
  }

  /// Also looks at the room again, which may be hours later; another room or account than was prepared for
  /// takes the upload anew.
  func readiness(of prepared: JSONValue) async throws -> Readiness {
    guard let prepared = MatrixPrepared(prepared), prepared.roomName == room.name,
      try await client.account() == prepared.user
    else { return .lost }
    try await room.check(prepared.room, for: prepared.user)
    switch try await MatrixUpload.standing(of: prepared.media, prepared.size, client) {
    case .whole: return .ready
    case .empty, .lost: return .lost
    }
  }

  func publish(_ post: Post, _ prepared: JSONValue) async throws -> PublishAnswer {
    guard let prepared = MatrixPrepared(prepared) else { throw unreadable }
    let path = "client/v3/rooms/\(PercentEncoding.encode(prepared.room))/send/m.room.message"
    let content = MatrixMessage.content(post, prepared, type: type)
    let reply = try await client.ask(
      "PUT",
      "\(path)/\(PercentEncoding.encode(post.key))",
      body: .bytes(try WireCoder.encode(content), contentType: "application/json")
    )
    if reply.isSuccess {
      guard let event = reply.json?["event_id"]?.text, Self.isEvent(event) else {
        return .unknown("no event_id in the answer")
      }
      return .published(Self.receipt(event, prepared))
    }
    return reply.isRefusal ? .refused(reply.error("sending")) : .unknown("HTTP \(reply.status)")
  }

  func find(_ post: Post, _ prepared: JSONValue, since: Timestamp) async throws -> Finding {
    guard let prepared = MatrixPrepared(prepared) else { throw unreadable }
    return try await MatrixSearch(client: client, prepared: prepared, key: post.key, since: since)
      .run()
  }

  /// Whether it can be an event's id.
  static func isEvent(_ text: String) -> Bool { text.hasPrefix("$") && text.utf8.count <= 255 }

  static func receipt(_ event: String, _ prepared: MatrixPrepared) -> Receipt {
    let place = "\(PercentEncoding.encode(prepared.room))/\(PercentEncoding.encode(event))"
    let via = PercentEncoding.encode(prepared.server)
    return Receipt([
      "id": .string(event),
      "url": .string("https://matrix.to/#/\(place)?via=\(via)"),
      "room": .string(prepared.room),
      "mxc": .string(prepared.media.uri),
    ])
  }

  private var unreadable: ResultError {
    ResultError(.receiverFailed, "what was prepared cannot be read", effect: .unknown)
  }
}
