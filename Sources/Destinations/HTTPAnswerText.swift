import HTTPClient
import HandoffProtocol
import Paths

/// The sentence in which a server says what is wrong, where it says one.
struct HTTPAnswerText {
  private static let longest = 200
  /// Where services put it; the first two are those of RFC 9457.
  private static let members = ["detail", "title", "message", "error", "error_description"]

  private let reply: HTTPReply

  init(_ reply: HTTPReply) {
    self.reply = reply
  }

  /// On one line, and cut; nil for pages and for what holds no sentence.
  var said: String? {
    let type = reply.headers["content-type"]?.lowercased() ?? ""
    if type.contains("json") { return sentence }
    guard type.hasPrefix("text/plain") else { return nil }
    let line = reply.body.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.first
    return line.flatMap { Self.shown(String(decoding: $0, as: UTF8.self)) }
  }

  /// A space, tabulator or line end of JSON.
  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private var sentence: String? {
    let value: JSONValue
    do {
      value = try WireCoder.decode(JSONValue.self, from: reply.body, limit: .max)
    } catch {
      // Only a remark in a message hangs on it.
      return nil
    }
    return Self.members.lazy.compactMap { value[$0]?.text }.first.flatMap(Self.shown)
  }

  private static func shown(_ text: String) -> String? {
    let shown = BytePath(String(text.prefix(longest))).displayText
    return shown.isEmpty ? nil : shown
  }
}
