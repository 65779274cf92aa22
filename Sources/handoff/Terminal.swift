import Glibc
import HandoffProtocol
import Paths

/// Writes documents to standard output and everything for people to standard error.
enum Terminal {
  static func out(_ text: String) {
    write(text + "\n", to: STDOUT_FILENO)
  }

  /// Whatever a message repeats of what was typed, it drives no terminal; escapes in it stay as they are.
  static func error(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      line.split(separator: "\\", omittingEmptySubsequences: false)
        .map { BytePath(String($0)).displayText }.joined(separator: "\\")
    }
    write(lines.joined(separator: "\n") + "\n", to: STDERR_FILENO)
  }

  /// Writes over the last line of a terminal; nothing clears it.
  static func progress(_ text: String) {
    write("\r\u{1B}[K" + text, to: STDERR_FILENO)
  }

  /// One JSON document on standard output.
  static func json(_ document: some Encodable) throws {
    out(String(decoding: try WireCoder.encode(document), as: UTF8.self))
  }

  /// A document for people: one member a line, what is nested is indented.
  static func lines(_ document: some Encodable) throws {
    for line in lines(of: try WireCoder.value(document), "") { out(line) }
  }

  private static func lines(of value: JSONValue, _ indent: String) -> [String] {
    switch value {
    case .object(let members):
      members.sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
        switch value {
        case .null, .array([]), .object([:]): []
        case .array, .object: ["\(indent)\(name):"] + lines(of: value, indent + "  ")
        case .bool, .integer, .number, .string: ["\(indent)\(name): \(text(value))"]
        }
      }
    case .array(let elements): elements.flatMap { lines(of: $0, indent) }
    case .null, .bool, .integer, .number, .string: [indent + text(value)]
    }
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .string(let text): BytePath(text).displayText
    case .integer(let number): String(number)
    case .number(let number): String(number)
    case .bool(let flag): flag ? "yes" : "no"
    case .null, .array, .object: ""
    }
  }

  /// Aligned columns on standard output; nothing for no rows.
  static func table(_ header: [String], _ rows: [[String]]) {
    guard !rows.isEmpty else { return }
    let widths = header.indices.map { column in
      ([header] + rows).map { $0[column].count }.max() ?? 0
    }
    for row in [header] + rows {
      let cells = zip(row, widths).map { cell, width in
        cell + String(repeating: " ", count: width - cell.count)
      }
      var line = cells.joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      out(line)
    }
  }

  private static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      // A reader that has gone (`handoff assets | head`) is no error of ours.
      guard count > 0 || errno == EINTR else { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}
