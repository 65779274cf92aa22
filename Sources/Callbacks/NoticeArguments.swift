import FoundationEssentials
import HandoffProtocol
import Paths

/// Puts members of a notice into the arguments of a command: `{title}`, `{result}` and so on.
///
/// Each argument stays one argument, whatever the member holds: no shell is involved, and what was put
/// in is not looked at again. A member that this kind of notice does not have, or that is `null`, is
/// empty; other words in braces stay as they are. The program's name is never filled in.
struct NoticeArguments {
  /// The longest value that is put in, in bytes: execve(2) bounds one argument.
  static let longestValue = 16_384

  private let document: [String: JSONValue]

  /// What can stand in braces.
  private static let names: Set<String> = [
    "at", "destination", "error_code", "folder", "handoff_id", "key", "kind", "local_identifier",
    "local_identifiers", "notice_id", "path", "reason", "result", "status", "title", "url",
  ]

  init(_ document: [String: JSONValue]) {
    self.document = document
  }

  /// The arguments of a command, without its program.
  func filled(_ command: [String]) -> [BytePath] {
    command.dropFirst().map { BytePath(filled(Array($0.utf8))) }
  }

  private func filled(_ template: [UInt8]) -> [UInt8] {
    var filled: [UInt8] = []
    var rest = template[...]
    while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
      filled += rest[..<open]
      rest = rest[open...]
      let name = rest.dropFirst().prefix { $0 == UInt8(ascii: "_") || (97...122).contains($0) }
      if rest[name.endIndex...].first == UInt8(ascii: "}"),
        let value = value(of: String(decoding: name, as: UTF8.self))
      {
        filled += value
        rest = rest[(name.endIndex + 1)...]
      } else {
        filled.append(UInt8(ascii: "{"))
        rest = rest.dropFirst()
      }
    }
    return filled + rest
  }

  /// Nil for a word that is no placeholder.
  private func value(of name: String) -> [UInt8]? {
    guard Self.names.contains(name) else { return nil }
    // An argument ends at a NUL, so none may come from outside.
    return Array(bytes(of: name).filter { $0 != 0 }.prefix(Self.longestValue))
  }

  private func bytes(of name: String) -> [UInt8] {
    switch name {
    case "path":
      // The exact bytes, where the text alone is not exact.
      let exact = document["path_bytes"]?.text.flatMap { Data(base64Encoded: $0) }
      return exact.map(Array.init) ?? Self.text(document["path"])
    case "local_identifier":
      guard case .array(let identifiers) = document["local_identifiers"] else { return [] }
      return Self.text(identifiers.first)
    case "url": return Self.text(document["output"]?["url"])
    case "error_code": return Self.text(document["error"]?["code"])
    default: return Self.text(document[name])
    }
  }

  private static func text(_ value: JSONValue?) -> [UInt8] {
    switch value {
    case .string(let text): Array(text.utf8)
    case .integer(let number): Array("\(number)".utf8)
    case .array(let elements): Array(elements.map(text).joined(separator: [UInt8(ascii: " ")]))
    case nil, .null, .bool, .number, .object: []
    }
  }
}
