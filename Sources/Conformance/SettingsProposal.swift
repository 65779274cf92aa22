import HandoffProtocol
import Paths

/// Settings for a plugin whose author gave none, made of the JSON Schema that it answers to `discover`.
///
/// A required member needs a `default`, or is a text with `format: "folder"`: the kit then gives it a
/// folder of its own. Of alternatives (`oneOf`, `anyOf`) the first whose members can be made up is taken.
struct SettingsProposal {
  let schema: JSONValue?

  /// The required members that cannot be made up.
  var missing: [String] {
    required.filter { value($0, folder: "/") == nil }
  }

  /// The settings; members that are not required are left out.
  func settings(folder: BytePath) -> JSONValue {
    let members = required.compactMap { name in
      value(name, folder: folder).map { (name, $0) }
    }
    return .object(Dictionary(members) { first, _ in first })
  }

  /// The members that settings must have: of alternatives those of the one that is proposed.
  var required: [String] {
    var alternatives: [[String]] = []
    for word in ["oneOf", "anyOf"] {
      if case .array(let listed) = schema?[word] ?? .null {
        alternatives += listed.map { names(of: $0) }
      }
    }
    let made = alternatives.first { $0.allSatisfy { value($0, folder: "/") != nil } }
    return names(of: schema) + (made ?? alternatives.first ?? [])
  }

  private func names(of schema: JSONValue?) -> [String] {
    guard case .array(let names) = schema?["required"] ?? .null else { return [] }
    return names.compactMap(\.text)
  }

  private func value(_ name: String, folder: BytePath) -> JSONValue? {
    let property = schema?["properties"]?[name]
    if let value = property?["default"] { return value }
    return property?["format"]?.text == "folder" ? .string(folder.lossyText) : nil
  }
}
