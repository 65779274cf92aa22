import HTTPClient
import HandoffProtocol

/// Looks through a room, from its end back, for the event of one publication.
struct MatrixSearch: Sendable {
  let client: MatrixClient
  let prepared: MatrixPrepared
  let key: String
  let since: Timestamp

  /// By how much the two clocks may differ.
  private static let skew = Duration.seconds(86_400)
  private static let page = "100"
  /// Of the account's own messages: 50,000.
  private static let pages = 500

  func run() async throws -> Finding {
    let beginning = since.advanced(by: Duration.zero - Self.skew)
    var position: String?
    var isDoubtful = false
    for _ in 0..<Self.pages {
      let answer = try await messages(from: position)
      guard case .array(let events)? = answer["chunk"] else {
        return .unknown("the server does not list the room's messages")
      }
      for event in events {
        if let id = event["event_id"]?.text, MatrixPlatform.isEvent(id), shows(event) {
          return .published(MatrixPlatform.receipt(id, prepared))
        }
        isDoubtful = isDoubtful || mayHaveShown(event)
      }
      let last = events.last?["origin_server_ts"]?.integer
      let isBefore = last.map { Timestamp(milliseconds: $0) < beginning } ?? false
      guard let next = answer["end"]?.text, !isBefore else {
        guard try await client.account() == prepared.user else {
          // What another account may see of the room need not be all of it.
          return .unknown("the token is another account's now")
        }
        return isDoubtful
          ? .unknown("a message of this account was removed from the room, perhaps this one")
          : .absent
      }
      guard next != position else { break }
      position = next
    }
    return .unknown("the room has more messages of this account than are looked through")
  }

  private func shows(_ event: JSONValue) -> Bool {
    event["content"]?[MatrixMessage.keyMember]?.text == key
      // What was removed has no content any more; its own device is still told the transaction id.
      || event["unsigned"]?["transaction_id"]?.text == key
  }

  /// Its content was removed, and whose it was is not said.
  private func mayHaveShown(_ event: JSONValue) -> Bool {
    guard event["unsigned"]?["redacted_because"] != nil,
      event["unsigned"]?["transaction_id"] == nil,
      let sent = event["origin_server_ts"]?.integer
    else { return false }
    return Timestamp(milliseconds: sent) >= since.advanced(by: .seconds(-600))
  }

  private func messages(from position: String?) async throws -> JSONValue {
    let filter = JSONValue.object([
      "types": .array([.string("m.room.message")]),
      "senders": .array([.string(prepared.user)]),
    ])
    let text = String(decoding: try WireCoder.encode(filter), as: UTF8.self)
    var query = [(name: "dir", value: "b"), ("limit", Self.page), ("filter", text)]
    if let position { query.append(("from", position)) }
    let reply = try await client.ask(
      "GET",
      "client/v3/rooms/\(PercentEncoding.encode(prepared.room))/messages",
      query: query,
      // A hundred events of at most 64 KiB each.
      adjust: { $0.body = 8 << 20 }
    )
    guard reply.isSuccess, let json = reply.json else {
      throw reply.error("looking for the message")
    }
    return json
  }
}
