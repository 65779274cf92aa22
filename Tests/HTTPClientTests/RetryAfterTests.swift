import HTTPClient
import Testing

@Suite("Retry-After", .timeLimit(.minutes(1)))
struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT, the example of RFC 9110.
  private static let moment: Int64 = 784_111_777

  private func wait(_ text: String?, now: Int64 = moment) -> Int? {
    var reply = HTTPReply(status: 503)
    reply.headers["retry-after"] = text
    return reply.retryAfter(now: now)
  }

  @Test("a number is seconds, and a year is enough")
  func seconds() {
    #expect(wait("0") == 0)
    #expect(wait("120") == 120)
    #expect(wait("99999999999999999999999") == 31_536_000)
    #expect(wait(nil) == nil)
  }

  @Test("a date is a moment; one that has passed is now")
  func dates() {
    #expect(wait("Sun, 06 Nov 1994 08:49:37 GMT") == 0)
    #expect(wait("Sun, 06 Nov 1994 08:50:37 GMT") == 60)
    #expect(wait("Sun, 06 Nov 1994 08:49:37 GMT", now: Self.moment - 5) == 5)
    #expect(wait("Sun, 06 Nov 1994 08:49:37 GMT", now: Self.moment + 5) == 0)
    #expect(wait("Thu, 29 Feb 2024 00:00:00 GMT", now: 1_709_164_800 - 1) == 1)
    #expect(wait("Fri, 31 Dec 9999 23:59:59 GMT") == 31_536_000)
  }

  @Test(
    "anything else says nothing",
    arguments: [
      "", "-1", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Now 1994 08:49:37 GMT",
      "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "٣",
      "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 99 Nov 1994 08:49:37 GMT",
    ]
  )
  func others(text: String) {
    #expect(wait(text) == nil)
  }
}
