import HandoffPluginKit
import HandoffProtocol

/// The platforms that there are: a further one is a file of its own and a line here.
enum Platforms {
  static let all: [any Platform.Type] = [
    MastodonPlatform.self, MediaWikiPlatform.self,
  ]

  /// The one that `settings.platform` names.
  static func named(_ name: String) throws(ResultError) -> any Platform.Type {
    guard let platform = all.first(where: { $0.name == name }) else {
      throw .notConfigured(
        "settings.platform is \(name), and there is none of that name",
        remedy: "There are: \(all.map { $0.name }.joined(separator: ", "))."
      )
    }
    return platform
  }

  /// The JSON Schema of the settings: what all have, and each one's own.
  static var settingsSchema: JSONValue {
    var properties = SocialSettings.properties
    for platform in all {
      // A member of all platforms means the same in each.
      properties.merge(platform.settingsProperties) { common, _ in common }
    }
    return .object([
      "type": .string("object"),
      "properties": .object(properties),
      "required": .array([.string("server")]),
    ])
  }
}
