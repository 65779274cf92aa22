import HandoffCore
import HandoffProtocol
import Paths

extension TableReader {
  /// The text of a key; nil if it is missing or no text.
  func text(_ key: String) -> String? {
    guard let node = node(key) else { return nil }
    return text(node, at: name(key))
  }

  /// The text of a key where "" stands for none.
  func optionalText(_ key: String) -> String? {
    guard let text = text(key), !text.isEmpty else { return nil }
    return text
  }

  /// The texts of a list, each with its path; nil if the key is missing.
  func texts(_ key: String) -> [(text: String, path: String)]? {
    guard let node = node(key) else { return nil }
    guard case .array(let elements) = node.content else {
      report(key, "a list of texts is expected, not \(node.kind)")
      return []
    }
    return elements.enumerated().compactMap { index, element in
      let path = "\(name(key))[\(index)]"
      context.note(element.place, of: path)
      return text(element, at: path).map { ($0, path) }
    }
  }

  func read(_ key: String, into value: inout [String]) {
    guard let texts = texts(key) else { return }
    value = texts.compactMap { text, path in
      guard text.isEmpty else { return text }
      context.report("\(path): an empty text", at: path)
      return nil
    }
  }

  /// The texts of a list that has no default.
  func list(_ key: String) -> [String]? {
    guard node(key) != nil else { return nil }
    var value: [String] = []
    read(key, into: &value)
    return value
  }

  func read(_ key: String, into value: inout Bool) {
    guard let node = node(key) else { return }
    guard case .boolean(let boolean) = node.content else {
      report(key, "true or false is expected, not \(node.kind)")
      return
    }
    value = boolean
  }

  func read(_ key: String, into value: inout Int, in range: ClosedRange<Int>) {
    guard let node = node(key) else { return }
    guard case .integer(let integer) = node.content else {
      report(key, "an integer is expected, not \(node.kind)")
      return
    }
    guard let number = Int(exactly: integer), range.contains(number) else {
      let bounds = "\(range.lowerBound) to \(range.upperBound)"
      report(key, "\(integer) is out of range; it may be \(bounds)")
      return
    }
    value = number
  }

  /// A whole number that has no default.
  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard has(key) else {
      _ = node(key)
      return nil
    }
    var value = range.lowerBound
    read(key, into: &value, in: range)
    return value
  }

  func read<Value>(_ key: String, into value: inout Value)
  where Value: RawRepresentable<String> & CaseIterable {
    guard let text = text(key) else { return }
    guard let chosen = Value(rawValue: text) else {
      let choices = Value.allCases.map(\.rawValue).joined(separator: ", ")
      report(key, "\(text.quoted) is none of \(choices)")
      return
    }
    value = chosen
  }

  func read(_ key: String, into value: inout Duration, in range: ClosedRange<Duration>) {
    guard let duration = duration(key, in: range) else { return }
    value = duration
  }

  /// A duration within a range; nil if it is missing or wrong.
  func duration(_ key: String, in range: ClosedRange<Duration>) -> Duration? {
    guard let node = node(key) else { return nil }
    guard case .string(let text) = node.content else {
      report(key, "a duration is a text with a unit, as \"10s\", not \(node.kind)")
      return nil
    }
    guard let duration = Quantities.duration(text) else {
      report(key, "\(text.quoted) is no duration: a whole number with ms, s, m, h or d")
      return nil
    }
    guard range.contains(duration) else {
      let bounds = "\(Quantities.text(range.lowerBound)) to \(Quantities.text(range.upperBound))"
      report(key, "\(text.quoted) is out of range; it may be \(bounds)")
      return nil
    }
    return duration
  }

  /// A number of bytes; nil if it is missing or wrong.
  func size(_ key: String) -> Int64? {
    guard let node = node(key) else { return nil }
    guard case .string(let text) = node.content else {
      report(key, "a size is a text with a unit, as \"2GB\", not \(node.kind)")
      return nil
    }
    guard let size = Quantities.size(text) else {
      report(key, "\(text.quoted) is no size: a whole number with B, kB, MB, GB, TB, KiB and so on")
      return nil
    }
    return size
  }

  /// The absolute path of a key; nil if it is missing, wrong or "".
  func optionalPath(_ key: String) -> BytePath? {
    guard let text = text(key), !text.isEmpty else { return nil }
    return path(text, at: name(key))
  }

  func read(_ key: String, into value: inout BytePath) {
    guard let text = text(key), let path = path(text, at: name(key)) else { return }
    value = path
  }

  func read(_ key: String, into value: inout [BytePath]) {
    guard let texts = texts(key) else { return }
    value = texts.compactMap { path($0.text, at: $0.path) }
  }

  func read(_ key: String, into value: inout [DestinationName]) {
    guard let texts = texts(key) else { return }
    value = []
    for (text, path) in texts {
      guard let name = DestinationName(text) else {
        context.report("\(path): \(text.quoted) is no name of a destination", at: path)
        continue
      }
      if value.contains(name) {
        context.report("\(path): \(text.quoted) stands in the list twice", at: path)
      } else {
        value.append(name)
      }
    }
  }

  func callbackID(_ key: String) -> CallbackID? {
    guard let text = optionalText(key) else { return nil }
    if CallbackID(text) == nil { report(key, "\(text.quoted) is no callback id") }
    return CallbackID(text)
  }

  private func text(_ node: TOMLNode, at path: String) -> String? {
    guard case .string(let text) = node.content else {
      context.report("\(path): a text is expected, not \(node.kind)", at: path)
      return nil
    }
    guard !text.utf8.contains(0) else {
      context.report("\(path): a text may not hold U+0000", at: path)
      return nil
    }
    return text
  }

  private func path(_ text: String, at path: String) -> BytePath? {
    if text.isEmpty {
      context.report("\(path): an empty path", at: path)
      return nil
    }
    if text == "~" || text.hasPrefix("~/") {
      context.report("\(path): ~ is not replaced; write the folder's whole path", at: path)
      return nil
    }
    return context.absolute(text)
  }
}
