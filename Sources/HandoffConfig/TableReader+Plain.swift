import HandoffProtocol
import Paths

extension TableReader {
  /// A table of somebody else's keys as it is; texts that begin with `./` are made absolute if asked.
  func plainValue(_ key: String, resolvingPaths: Bool = true) -> JSONValue {
    var members: [String: JSONValue] = [:]
    for member in tableMembers(key) {
      context.note(member.place, of: "\(name(key)).\(member.key)")
      members[member.key] = plain(member.node, at: "\(name(key)).\(member.key)") { text in
        resolvingPaths && text.hasPrefix("./") ? context.absolute(text).lossyText : text
      }
    }
    return .object(members)
  }

  /// This whole table, of somebody else's keys, as it is; texts that begin with `./` are made absolute.
  func plainTable() -> JSONValue {
    let pairs = members.map { member in
      (
        member.key,
        plain(member.node, at: name(member.key)) { text in
          text.hasPrefix("./") ? context.absolute(text).lossyText : text
        }
      )
    }
    return .object(Dictionary(pairs) { first, _ in first })
  }

  /// A value as JSON has it; dates and times become texts as RFC 3339 writes them.
  func plain(
    _ node: TOMLNode,
    at path: String,
    text: (String) -> String = { $0 }
  ) -> JSONValue {
    switch node.content {
    case .table(let members):
      let pairs = members.map { ($0.key, plain($0.node, at: "\(path).\($0.key)", text: text)) }
      return .object(Dictionary(pairs) { first, _ in first })
    case .array(let elements):
      return .array(elements.map { plain($0, at: path, text: text) })
    case .string(let string):
      return .string(text(string))
    case .integer(let integer):
      return .integer(integer)
    case .number(let number):
      if !number.isFinite {
        let shown = BytePath(path).displayText
        context.report("\(shown): JSON has no \(number)", at: node.place)
      }
      return .number(number)
    case .boolean(let boolean):
      return .bool(boolean)
    case .date(let text), .time(let text), .dateTime(let text):
      return .string(text)
    }
  }
}
