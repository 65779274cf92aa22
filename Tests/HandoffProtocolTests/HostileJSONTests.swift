import HandoffProtocol
import Testing

/// Each is refused, and the process lives on (CASES.md, case 96).
@Suite("Hostile JSON")
struct HostileJSONTests {
  private static let numbers = [
    "1147e0286", "1e400", "-1e400", "99999999999999999999", "NaN", "Infinity", "-", "0x3", "03",
    "3.",
    ".3", "1e", "3e0000000000000000000000001",
  ]

  @Test("a hostile number where a version belongs is refused", arguments: numbers + ["-0", "2.5"])
  func versions(number: String) {
    let text = "{\"protocol_version\":\(number),\"state\":\"a\",\"result\":\"success\"}"
    #expect(code { try WireCoder.decode(HandoffResult.self, from: Array(text.utf8)) } != nil)
  }

  @Test("a hostile number anywhere is refused or kept as a number", arguments: numbers)
  func values(number: String) {
    let bytes = Array("{\"a\":[\(number)]}".utf8)
    do {
      let value = try WireCoder.decode(JSONValue.self, from: bytes)
      guard case .array(let elements) = value["a"], let element = elements.first else {
        return #expect(Bool(false), "\(value)")
      }
      switch element {
      case .integer: break
      case .number(let number): #expect(number.isFinite)
      default: #expect(Bool(false), "\(element)")
      }
    } catch {
      #expect(error is ProtocolError)
    }
  }

  @Test("integers up to 64 bits stay exact")
  func exactIntegers() throws {
    for text in ["9223372036854775807", "-9223372036854775808", "9007199254740993"] {
      let value = try WireCoder.decode(JSONValue.self, from: Array("[\(text)]".utf8))
      #expect(value == .array([.integer(try #require(Int64(text)))]))
    }
  }

  @Test(
    "deep nesting is refused",
    arguments: [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")],
    [65, 100_000]
  )
  func nesting(brackets: (String, String), depth: Int) {
    let closed =
      String(repeating: brackets.0, count: depth) + "1"
      + String(repeating: brackets.1, count: depth)
    let unclosed = String(repeating: brackets.0, count: depth)
    for text in [closed, unclosed] {
      let failed = code {
        try WireCoder.decode(JSONValue.self, from: Array(text.utf8), limit: .max)
      }
      #expect(failed == .malformedRequest)
    }
  }

  @Test("nesting up to the limit is read")
  func allowedNesting() throws {
    let text = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(throws: Never.self) { try WireCoder.decode(JSONValue.self, from: Array(text.utf8)) }
  }

  @Test(
    "bytes that are no plain JSON text are refused",
    arguments: [
      [], [0x0A], [0x7B], [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00],
      [0x7B, 0x00, 0x7D, 0x00], [0x00, 0x7B, 0x00, 0x7D], [0x22, 0xFF, 0x22],
      [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0x00, 0x22], [0x22, 0x0A, 0x22],
      [0x7B, 0x7D, 0x7B, 0x7D],
      [0x22, 0x5C],
    ]
  )
  func bytes(bytes: [UInt8]) {
    #expect(code { try WireCoder.decode(JSONValue.self, from: bytes) } == .malformedRequest)
  }

  @Test(
    "texts that are no text are refused",
    arguments: [
      #""\ud800""#, #""\udc00\ud800""#, #""\u0000""#, #""a\u0000b""#, #""\x41""#, #""\u12"#,
    ]
  )
  func texts(text: String) {
    #expect(
      code { try WireCoder.decode(JSONValue.self, from: Array(text.utf8)) } == .malformedRequest
    )
  }

  @Test("an escaped backslash before u0000 is no U+0000")
  func escapedBackslash() throws {
    let value = try WireCoder.decode(JSONValue.self, from: Array(#""\\u0000""#.utf8))
    #expect(value == .string("\\u0000"))
  }

  @Test(
    "a member given twice is refused, however it is spelt",
    arguments: [
      #"{"a":1,"a":2}"#, #"{"a":1,"b":{},"a":2}"#, #"[{"a":{"x":1,"x":1}}]"#,
      #"{"a":1,"\u0061":2}"#,
      #"{"\u0061":1,"a":2}"#, #"{"a":[{"b":1}],"c":{"a":1},"a":1}"#, #"{"a" : "b" , "a" : "c"}"#,
    ]
  )
  func duplicates(text: String) {
    #expect(
      code { try WireCoder.decode(JSONValue.self, from: Array(text.utf8)) } == .malformedRequest
    )
  }

  @Test(
    "the same name in different objects, or as a value, is no repetition",
    arguments: [
      #"{"a":{"a":{"a":1}},"b":["a","a",{"a":"a"}]}"#, #"[{"a":1},{"a":1}]"#, #"{"a":"a","b":"a"}"#,
      #"{"ü":1,"\u001b":2,"\"":3,"\\":4}"#,
    ]
  )
  func noDuplicates(text: String) {
    #expect(throws: Never.self) { try WireCoder.decode(JSONValue.self, from: Array(text.utf8)) }
  }

  @Test("random bytes and cut or changed documents never crash", arguments: [UInt64(1), 2, 3])
  func mutations(seed: UInt64) {
    var random = SplitMix(state: seed)
    let documents = [
      GoldenV3.requestWithEverything, GoldenV3.failure, GoldenV3.success, "{\"a\":[1,2.5e3,null]}",
    ].map { Array($0.utf8) }
    for round in 0..<500 {
      var bytes = documents[round % documents.count]
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count / 2, using: &random))
      for error in [
        failure { try WireCoder.decode(HandoffRequest.self, from: bytes) },
        failure { try WireCoder.decode(HandoffResult.self, from: bytes) },
        failure { try WireCoder.decode(RPCMessage.self, from: bytes) },
        failure { try WireCoder.decode(JSONValue.self, from: bytes) },
      ] {
        #expect(error == nil || error is ProtocolError, "seed \(seed), round \(round)")
      }
    }
  }

  private func failure(_ call: () throws -> some Any) -> (any Error)? {
    do {
      _ = try call()
      return nil
    } catch {
      return error
    }
  }
}

/// SplitMix64 (Steele, Lea, Flood, 2014): the same numbers for the same seed.
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
