import HandoffPluginKit
import HandoffProtocol

/// The room of a destination, and whether the account can publish there.
struct MatrixRoom: Sendable {
  let client: MatrixClient
  /// `settings.room`: an id (`!…`) or an alias (`#…`).
  let name: String

  /// The room's id.
  func id() async throws -> String {
    if name.hasPrefix("!") { return name }
    let path = "client/v3/directory/room/\(PercentEncoding.encode(name))"
    let reply = try await client.ask("GET", path)
    if reply.status == 404, reply.errcode == "M_NOT_FOUND" {
      throw ResultError.notConfigured(
        "settings.room: the server knows no room \(name)",
        remedy: "Check the alias, or name the room by its id (!…)."
      )
    }
    guard reply.isSuccess, let id = reply.json?["room_id"]?.text, id.hasPrefix("!") else {
      throw reply.error("looking up \(name)")
    }
    return id
  }

  /// Throws why a user cannot publish in the room.
  func check(_ id: String, for user: String) async throws {
    let member = try await state(of: id, "m.room.member", user)
    guard member?["membership"]?.text == "join" else {
      throw ResultError(
        .auth,
        "\(user) has not joined the room \(name)",
        effect: .none,
        retry: .afterFix,
        remedy: "Invite the account, and have it join the room."
      )
    }
    // What the plugin sent would be readable by everybody on the way, in a room that promises otherwise.
    guard try await state(of: id, "m.room.encryption") == nil else {
      throw ResultError.notConfigured(
        "the room \(name) is encrypted, and this plugin cannot encrypt",
        remedy: "Name a room without encryption in settings.room."
      )
    }
    try await checkPower(id, user)
  }

  private func checkPower(_ id: String, _ user: String) async throws {
    let levels = try await state(of: id, "m.room.power_levels") ?? .object([:])
    let needed =
      level(levels["events"]?["m.room.message"]) ?? level(levels["events_default"]) ?? 0
    let has = level(levels["users"]?[user]) ?? level(levels["users_default"]) ?? 0
    guard has < needed else { return }
    // Since version 12 a room's creators stand above all levels.
    if try await creators(of: id).contains(user) { return }
    throw ResultError(
      .auth,
      "\(user) has the power level \(has) in the room \(name), and messages need \(needed)",
      effect: .none,
      retry: .afterFix,
      remedy: "Give the account the power level \(needed) in the room."
    )
  }

  private func creators(of id: String) async throws -> Set<String> {
    let path = "client/v3/rooms/\(PercentEncoding.encode(id))/state/m.room.create?format=event"
    let event = try await client.get(path, "asking who made the room")
    let content = event["content"]
    guard let version = content?["room_version"]?.text.flatMap({ Int($0) }), version >= 12 else {
      return []
    }
    var creators: Set<String> = []
    if let sender = event["sender"]?.text { creators.insert(sender) }
    if case .array(let others)? = content?["additional_creators"] {
      creators.formUnion(others.compactMap(\.text))
    }
    return creators
  }

  /// A piece of the room's state; nil where there is none.
  private func state(
    of id: String,
    _ type: String,
    _ key: String = ""
  ) async throws -> JSONValue? {
    let encoded = PercentEncoding.encode(id)
    let path = "client/v3/rooms/\(encoded)/state/\(type)/\(PercentEncoding.encode(key))"
    let reply = try await client.ask("GET", path)
    if reply.status == 404, reply.errcode == "M_NOT_FOUND" { return nil }
    guard reply.isSuccess, let json = reply.json else {
      throw reply.error("looking at the room \(name)")
    }
    return json
  }

  /// Old rooms write levels as texts.
  private func level(_ value: JSONValue?) -> Int64? {
    value?.integer ?? value?.text.flatMap { Int64($0) }
  }
}
