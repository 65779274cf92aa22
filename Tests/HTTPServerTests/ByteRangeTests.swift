import HTTPServer
import Testing

@Suite("A byte range")
struct ByteRangeTests {
  @Test(
    "is read as RFC 9110 says",
    arguments: [
      (nil, .whole), ("bytes=0-", .part(offset: 0, count: 10)),
      ("bytes=3-5", .part(offset: 3, count: 3)), ("bytes=3-99", .part(offset: 3, count: 7)),
      ("bytes=-4", .part(offset: 6, count: 4)), ("bytes=-99", .part(offset: 0, count: 10)),
      ("Bytes=9-9", .part(offset: 9, count: 1)), ("bytes=10-", .unsatisfiable),
      ("bytes=10-12", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=5-3", .whole),
      ("bytes=0-1,3-4", .whole), ("items=0-1", .whole), ("bytes=a-b", .whole), ("bytes=", .whole),
      ("bytes=99999999999999999999-", .unsatisfiable), ("bytes=-", .whole), ("bytes=1-2-3", .whole),
      ("bytes=2-99999999999999999999", .part(offset: 2, count: 8)),
    ] as [(String?, ByteRange)]
  )
  func reading(header: String?, range: ByteRange) {
    #expect(ByteRange(header, size: 10) == range)
  }

  @Test("of nothing cannot be had")
  func empty() {
    #expect(ByteRange("bytes=0-", size: 0) == .unsatisfiable)
    #expect(ByteRange("bytes=-1", size: 0) == .unsatisfiable)
    #expect(ByteRange(nil, size: 0) == .whole)
  }
}
