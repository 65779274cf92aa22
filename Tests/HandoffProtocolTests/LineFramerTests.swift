import HandoffProtocol
import Testing

@Suite("Line framer")
struct LineFramerTests {
  @Test("lines come out whole, however the bytes came in", arguments: [1, 2, 3, 7, 100])
  func pieces(size: Int) throws {
    let stream = Array("one\n\ntwo\nü\nunfinished".utf8)
    var framer = LineFramer(limit: 10)
    var lines: [String] = []
    for start in stride(from: 0, to: stream.count, by: size) {
      let piece = stream[start..<min(start + size, stream.count)]
      lines += try framer.append(piece).map { String(decoding: $0, as: UTF8.self) }
    }
    #expect(lines == ["one", "two", "ü"])
    #expect(framer.unfinished == Array("unfinished".utf8))
  }

  @Test("a line of the limit passes, one byte more does not")
  func limit() throws {
    var framer = LineFramer(limit: 4)
    #expect(try framer.append(Array("1234\n".utf8)).count == 1)
    #expect(throws: ProtocolError.self) { try framer.append(Array("12345\n".utf8)) }
  }

  @Test("the limit holds before a line is complete")
  func unfinishedLimit() throws {
    var framer = LineFramer(limit: 4)
    #expect(try framer.append(Array("1234".utf8)).isEmpty)
    #expect(throws: ProtocolError.self) { try framer.append(Array("5".utf8)) }
  }

  @Test("a flood without a line feed is not kept")
  func flood() {
    var framer = LineFramer(limit: 1000)
    #expect(throws: ProtocolError.self) {
      try framer.append([UInt8](repeating: 1, count: 1_000_000))
    }
    #expect(framer.unfinished.count <= 1000)
  }

  @Test("many lines at once all come out")
  func many() throws {
    var framer = LineFramer(limit: 10)
    let stream = Array(String(repeating: "x\n", count: 10_000).utf8)
    #expect(try framer.append(stream).count == 10_000)
    #expect(framer.unfinished.isEmpty)
  }
}
