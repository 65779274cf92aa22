import Testing

@testable import HandoffConfig

@Suite("TOML")
struct TOMLParserTests {
  @Test("a document becomes a tree with places of keys and values")
  func places() throws {
    let members = try members(of: "[a]\nb = 'x'\n\"ü\" = [1, 2.5, true]\n")
    #expect(members.map(\.key) == ["a"])
    guard case .table(let inner) = members[0].node.content else { return #expect(Bool(false)) }
    #expect(inner.map(\.key) == ["b", "ü"])
    #expect(inner[0].place == Place(line: 2, column: 1))
    #expect(inner[0].node.place == Place(line: 2, column: 5))
    guard case .array(let list) = inner[1].node.content else { return #expect(Bool(false)) }
    #expect(list.map(\.kind) == ["an integer", "a number", "true or false"])
    #expect(list[1].place == Place(line: 3, column: 11))
  }

  @Test("dates and times are texts as RFC 3339 has them")
  func dates() throws {
    let members = try members(
      of: "a = 2026-12-24T18:00:00+01:00\nb = 2026-12-24 18:00:00\nc = 2026-12-24\nd = 18:00:00.5\n"
    )
    let texts = members.map { member in
      switch member.node.content {
      case .dateTime(let text), .date(let text), .time(let text): text
      default: ""
      }
    }
    #expect(texts[0] == "2026-12-24T18:00:00+01:00")
    #expect(texts[1] == "2026-12-24T18:00:00")
    #expect(texts[2] == "2026-12-24")
    #expect(texts[3].hasPrefix("18:00:00.5"))
  }

  @Test(
    "what is not TOML is an error with its place",
    arguments: [
      ("a = 1\nb = ", 2), ("a = 1\na = 2\n", 2), ("[a\n", 1), ("a = 1\0", 1), ("a = '\0'", 1),
      ("a = \"\\ud800\"", 1), ("= 1", 1), ("a", 1), ("a = 99999999999999999999", 1), ("a = 01", 1),
    ]
  )
  func syntaxErrors(text: String, line: Int) {
    let error = #expect(throws: TOMLSyntaxError.self) { try TOMLParser.parse(Array(text.utf8)) }
    #expect(error?.place.line == line)
    #expect(error?.message.isEmpty == false)
  }

  @Test(
    "bytes that are not UTF-8 are an error",
    arguments: [
      [0x61, 0x3D, 0x27, 0xFF, 0x27], [0x61, 0x3D, 0x27, 0xED, 0xA0, 0x80, 0x27],
      [0xFF, 0xFE, 0x61],
      [0x61, 0x3D, 0x27, 0xE2, 0x82], [0x61, 0x00, 0x3D, 0x00],
    ]
  )
  func notUTF8(bytes: [UInt8]) {
    #expect(throws: TOMLSyntaxError.self) { try TOMLParser.parse(bytes) }
  }

  @Test("an empty document and one of a byte order mark have no keys", arguments: ["", "\u{FEFF}"])
  func empty(text: String) throws {
    #expect(try members(of: text).isEmpty)
  }

  @Test(
    "nesting of any kind is an error and never a crash",
    arguments: [
      ("a = ", "["), ("a = ", "{a="), ("", "a."), ("[", "a."), ("x = '''\n'''\n", "\"a\" . "),
      ("x = \"\"\"\\\"\"\"\"\n", "a."), ("x = '\\'\n", "a."), ("x = \"unclosed\n", "a."),
    ]
  )
  func nesting(beginning: String, part: String) {
    let text = beginning + String(repeating: part, count: 500_000) + "a = 1"
    #expect(throws: TOMLSyntaxError.self) { try TOMLParser.parse(Array(text.utf8)) }
  }

  @Test("dots and brackets in texts and comments are no nesting")
  func noNesting() throws {
    let dots = String(repeating: ".[{", count: 1000)
    let text =
      "# \(dots)\na = '\(dots)'\nb = \"\\\"\(dots)\"\nc = '''\n\(dots)'''\nd = 1 # \(dots)\n"
    #expect(try members(of: text).map(\.key) == ["a", "b", "c", "d"])
  }

  private func members(of text: String) throws -> [TOMLMember] {
    guard case .table(let members) = try TOMLParser.parse(Array(text.utf8)).content else {
      return []
    }
    return members
  }
}
