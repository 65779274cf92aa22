import HandoffCore
import HandoffProtocol
import Paths

/// Writes settings as TOML, each with where it comes from.
struct EffectiveWriter {
  private(set) var text = ""
  private let places: [String: Place]
  private var path = ""

  init(places: [String: Place]) {
    self.places = places
  }

  /// Begins a table: its header as TOML writes it, and its path as problems name it.
  mutating func table(_ header: String, path: String) {
    if !text.isEmpty { text += "\n" }
    text += header + "\n"
    self.path = path
  }

  /// A key with a value that is TOML already; nothing if there is no value.
  mutating func line(_ key: String, _ value: String?) {
    guard let value else { return }
    let origin = places["\(path).\(key)"].map { "line \($0.line)" } ?? "default"
    text += "\(key) = \(value)  # \(origin)\n"
  }

  mutating func line(_ key: String, _ value: Bool) { line(key, "\(value)") }

  mutating func line(_ key: String, _ value: Int) { line(key, "\(value)") }

  mutating func line(_ key: String, _ value: Duration) {
    line(key, Self.quoted(Quantities.text(value)))
  }

  mutating func line(_ key: String, text value: String?) { line(key, Self.quoted(value ?? "")) }

  mutating func line(_ key: String, texts: [String]) {
    line(key, "[" + texts.map(Self.quoted).joined(separator: ", ") + "]")
  }

  mutating func line(_ key: String, secret: SecretReference?) {
    switch secret {
    case .env(let name): line(key, "{ env = \(Self.quoted(name)) }")
    case .file(let path): line(key, "{ file = \(Self.quoted(path.lossyText)) }")
    case .credential(let name): line(key, "{ credential = \(Self.quoted(name)) }")
    case nil: break
    }
  }

  /// A member of somebody else's table; what its name says to be a secret is not shown.
  mutating func line(_ key: String, plain value: JSONValue) {
    line(Self.key(key), Self.plain(value, isSecret: Self.isSecret(key)))
  }

  private static func plain(_ value: JSONValue, isSecret: Bool) -> String {
    switch value {
    case .null: "\"\""
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .string(let text): isSecret ? "\"(not shown)\"" : quoted(text)
    case .array(let elements):
      "[" + elements.map { plain($0, isSecret: isSecret) }.joined(separator: ", ") + "]"
    case .object(let members):
      "{ "
        + members.sorted { $0.key < $1.key }.map { name, value in
          "\(key(name)) = \(plain(value, isSecret: isSecret || Self.isSecret(name)))"
        }.joined(separator: ", ") + " }"
    }
  }

  /// A name of a variable or file that holds a secret is none.
  private static func isSecret(_ key: String) -> Bool {
    let name = key.lowercased()
    let words = ["token", "secret", "password", "passphrase", "key", "credential"]
    return words.contains { name.contains($0) }
      && !["_env", "_file"].contains { name.hasSuffix($0) }
  }

  private static func key(_ key: String) -> String {
    let isBare = key.utf8.allSatisfy(\.isNameByte)
    return isBare && !key.isEmpty ? key : quoted(key)
  }

  /// A basic string of TOML.
  static func quoted(_ text: String) -> String {
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "\n": "\\n"
      case "\t": "\\t"
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7F:
        "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
      case let scalar: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }
}
