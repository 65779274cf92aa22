import HandoffProtocol
import Testing

@testable import Destinations

@Suite("What may be a result")
struct PossibleResultTests {
  private static let failure = #"{"protocol_version":3,"state":"t","result":"failure","x":"#

  private enum Kind: Equatable { case none, document, unreadable }

  private func kind(_ result: PossibleResult) -> Kind {
    switch result {
    case .none: .none
    case .document: .document
    case .unreadable: .unreadable
    }
  }

  private func end(_ text: String) -> Kind { kind(PossibleResult(atEndOf: Array(text.utf8))) }

  @Test(
    "is unreadable where it was meant as one",
    arguments: [
      "NaN}", "Infinity}", "-Infinity}", "1,\"x\":2}", "\"\0\"}", #""\ud800"}"#, "1", "",
      String(repeating: "[", count: 70) + String(repeating: "]", count: 70) + "}", "1},", "'a'}",
    ]
  )
  func unreadable(rest: String) {
    for blank in ["", "  ", "\t", "\u{FEFF}", "\u{FEFF} "] {
      #expect(end("loading\n\(blank)\(Self.failure)\(rest)\n") == .unreadable)
    }
  }

  @Test("is unreadable in another encoding")
  func encodings() {
    let head = Array(Self.failure.utf8)
    #expect(kind(PossibleResult(atEndOf: head + [0x22, 0xE9, 0x22, 0x7D, 0x0A])) == .unreadable)
    let wide = (Self.failure + "1}\n").utf16
    let little: [UInt8] = [0xFF, 0xFE] + wide.flatMap { [UInt8($0), 0] as [UInt8] }
    let big: [UInt8] = [0xFE, 0xFF] + wide.flatMap { [0, UInt8($0)] as [UInt8] }
    for text in [little, big, Array(little.dropFirst(2)), Array(big.dropFirst(2))] {
      #expect(kind(PossibleResult(atEndOf: text)) == .unreadable)
    }
  }

  @Test("is a document with blanks around it")
  func blanks() {
    for text in ["  \(Self.failure)1}", "\(Self.failure)1} \r\n\n  \n"] {
      #expect(end(text) == .document)
    }
  }

  @Test("is unreadable over several lines, whole or cut")
  func severalLines() {
    let lines = [
      "{", " \"protocol_version\": 3,", " \"state\": \"t\",", " \"result\": \"failure\",",
      " \"error\": {", "  \"code\": \"quota\"", " },", " \"list\": [", "  {\"a\": 1},",
      "  {\"a\": 1}",
      " ]", "}",
    ]
    for count in 1...lines.count {
      let text = (["loading"] + lines.prefix(count)).joined(separator: "\n")
      // The last object of the list could be an ordinary line, and so could the one before.
      let isOther = lines[count - 1].hasPrefix("  {\"a\": 1}") && count == 10
      #expect(end(text) == (isOther ? .none : .unreadable), "\(count)")
    }
  }

  @Test(
    "is none in an ordinary end",
    arguments: [
      "", "\n \n", "done", "[download] 100%", "[INFO] all is well", "{\"a\":1}", "{}", "[1]", "}",
      "{\n \"a\": 1\n}", "{\"protocol_version\":3}\nbye", "{\"protocol_version\":3}\nsee:",
      "{\n \"protocol_version\": 3\n}\nbye", "{'protocol_version': 3}\nbye",
    ]
  )
  func none(text: String) {
    #expect(end(text) == .none)
  }
}
