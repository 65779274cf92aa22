import HandoffPluginKit
import HandoffProtocol

/// The settings that every platform has; each reads its own from ``values``.
struct SocialSettings: Sendable {
  /// The whole table.
  let values: JSONValue
  /// Which service it is; `mastodon` where nothing is said.
  let platform: String
  /// The service's base URL, without a slash at its end.
  let server: String
  /// The words of a post, where the request says nothing.
  let words: PostDefaults
  /// Seconds between two questions whether something is ready; 2.
  let pollInterval: Double
  /// Seconds that the service may take over something; 600.
  let pollLimit: Double
  /// Seconds for which the service may still work on a request whose answer was lost; 10.
  let inFlight: Double

  private let tokenEnv: String?
  private let tokenFile: String?

  init(_ values: JSONValue) throws(ResultError) {
    self.values = values
    let reader = SettingsReader(values)
    platform = try reader.text("platform") ?? "mastodon"
    var server = try reader.text("server") ?? ""
    while server.hasSuffix("/") { server.removeLast() }
    self.server = server
    tokenEnv = try reader.text("token_env")
    tokenFile = try reader.text("token_file")
    pollInterval = try reader.seconds("poll_interval_s") ?? 2
    pollLimit = try reader.seconds("poll_limit_s") ?? 600
    inFlight = try reader.seconds("in_flight_s") ?? 10
    guard pollInterval > 0 else { throw .notConfigured("settings.poll_interval_s is 0") }
    words = try PostDefaults(reader)
  }

  /// The JSON Schemas of the members that every platform has.
  static var properties: [String: JSONValue] {
    let text = JSONValue.object(["type": .string("string")])
    let seconds = JSONValue.object([
      "type": .string("number"), "minimum": .integer(0),
      "maximum": .integer(SettingsReader.mostSeconds),
    ])
    let platform = JSONValue.object([
      "type": .string("string"),
      "enum": .array(Platforms.all.map { .string($0.name) }),
      "default": .string("mastodon"),
    ])
    return [
      "platform": platform, "server": text, "token_env": text, "token_file": text,
      "title": text, "text": text, "alt_text": text, "visibility": text, "language": text,
      "tags": .object(["type": .string("array"), "items": text]),
      "poll_interval_s": seconds, "poll_limit_s": seconds, "in_flight_s": seconds,
    ]
  }

  /// Makes the platform.
  ///
  /// - Throws: `not_configured` for what cannot work, missing credentials among it: that is told at once, and not
  ///   with the first video.
  func makePlatform(_ context: DestinationContext) throws(ResultError) -> any Platform {
    try checkServer()
    let kind = try Platforms.named(platform)
    try words.check(kind)
    let token = try SocialToken(variable: tokenEnv, file: tokenFile)
    _ = try token.read(context)
    return try kind.init(
      PlatformSettings(server: server, values: values, pollInterval: pollInterval) {
        () throws(ResultError) in try token.read(context)
      }
    )
  }

  private func checkServer() throws(ResultError) {
    guard !server.isEmpty else { throw .notConfigured("settings.server is missing") }
    guard !server.contains("@") else {
      throw .notConfigured("settings.server has an @: no name or password belongs there")
    }
    guard Self.isProtected(server) else {
      throw .notConfigured("settings.server is neither https:// nor a server of this machine")
    }
  }

  /// Whether a token may be sent there: over a protected line, or within this machine.
  ///
  /// What stands before an @ would hide whose address it is.
  static func isProtected(_ url: String) -> Bool {
    guard !url.contains("@") else { return false }
    if url.hasPrefix("https://") { return true }
    return ["http://127.0.0.1", "http://localhost", "http://[::1]"].contains { start in
      url.hasPrefix(start) && [nil, ":", "/"].contains(url.dropFirst(start.count).first)
    }
  }
}

/// Reads members of a settings table, and names the one that is of another kind.
struct SettingsReader {
  /// 30 days: more is a slip, and past what a clock counts.
  static let mostSeconds: Int64 = 30 * 86_400

  let values: JSONValue

  init(_ values: JSONValue) {
    self.values = values
  }

  /// A text; nil where it is missing or empty.
  func text(_ name: String) throws(ResultError) -> String? {
    guard let value = values[name] else { return nil }
    guard let text = value.text else { throw .notConfigured("settings.\(name) is no text") }
    return text.isEmpty ? nil : text
  }

  /// A number of seconds.
  func seconds(_ name: String) throws(ResultError) -> Double? {
    let seconds: Double
    switch values[name] {
    case nil: return nil
    case .integer(let number): seconds = Double(number)
    case .number(let number): seconds = number
    default: throw .notConfigured("settings.\(name) is no number of seconds")
    }
    guard (0...Double(Self.mostSeconds)).contains(seconds) else {
      throw .notConfigured("settings.\(name) is not between 0 and \(Self.mostSeconds) seconds")
    }
    return seconds
  }

  /// A list of texts.
  func texts(_ name: String) throws(ResultError) -> [String]? {
    guard let value = values[name] else { return nil }
    guard case .array(let list) = value, list.allSatisfy({ $0.text != nil }) else {
      throw .notConfigured("settings.\(name) is no list of texts")
    }
    return list.compactMap(\.text)
  }
}

extension SocialSettings {
  /// Where it is published.
  var place: PublicationPlace { PublicationPlace(platform: platform, server: server) }

  /// How it waits.
  func pace(_ context: ReceiveContext) -> Pace { Pace(context: context, interval: pollInterval) }
}
