import HandoffProtocol
import Testing

@Suite("Timestamp")
struct TimestampTests {
  @Test(
    "milliseconds are written as RFC 3339 and read as the same",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.999Z"),
      (1, "1970-01-01T00:00:00.001Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (1_796_049_540_000, "2026-11-30T14:39:00.000Z"),
      (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]
  )
  func roundTrip(milliseconds: Int64, text: String) {
    #expect(Timestamp(milliseconds: milliseconds).rfc3339 == text)
    #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
  }

  @Test("every day of some centuries is read as it is written")
  func everyDay() {
    for day in stride(from: Int64(-200_000), to: 200_000, by: 97) {
      let moment = Timestamp(milliseconds: day * 86_400_000 + 12_345)
      #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
    }
  }

  @Test(
    "offsets, fractions and other forms of RFC 3339 are read",
    arguments: [
      ("2026-11-30T15:39:00+01:00", "2026-11-30T14:39:00.000Z"),
      ("2026-11-30T00:09:00-14:30", "2026-11-30T14:39:00.000Z"),
      ("1970-01-01T00:30:00+01:00", "1969-12-31T23:30:00.000Z"),
      ("2026-11-30t14:39:00z", "2026-11-30T14:39:00.000Z"),
      ("2026-11-30 14:39:00Z", "2026-11-30T14:39:00.000Z"),
      ("2026-11-30T14:39:00.5Z", "2026-11-30T14:39:00.500Z"),
      ("2026-11-30T14:39:00.123456789Z", "2026-11-30T14:39:00.123Z"),
      ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
    ]
  )
  func forms(text: String, expected: String) {
    #expect(Timestamp(rfc3339: text)?.rfc3339 == expected)
  }

  @Test(
    "anything else is no time",
    arguments: [
      "", "2026", "2026-11-30", "2026-11-30T14:39:00", "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z",
      "2026-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z",
      "2026-01-32T00:00:00Z",
      "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z",
      "2026-01-01T00:00:00.Z",
      "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60", "2026-01-01T00:00:00+0100",
      "+2026-01-01T00:00:00Z", "-2026-01-01T00:00:00Z", "2026-01-01T00:00:00Zx",
      "２０２６-01-01T00:00:00Z", "2026-01-01T00:00:00.5\u{301}Z", "12026-01-01T00:00:00Z",
    ]
  )
  func noTime(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test("the ends of the range neither trap nor wrap")
  func ends() {
    let first = Timestamp(milliseconds: .min)
    let last = Timestamp(milliseconds: .max)
    #expect(!first.rfc3339.isEmpty && !last.rfc3339.isEmpty)
    #expect(last.advanced(by: .seconds(1)) == last)
    #expect(first.advanced(by: .seconds(-1)) == first)
    #expect(last.advanced(by: .seconds(Int64.max)) == last)
    #expect(last.since(first) > first.since(last))
    #expect(Duration.seconds(Int64.max).wholeMilliseconds == .max)
    #expect(Duration.seconds(Int64.min).wholeMilliseconds == .min)
    #expect(Duration.microseconds(-1500).wholeMilliseconds == -1)
  }

  @Test("moments are ordered, and differ by durations")
  func order() {
    let moment = Timestamp(milliseconds: 1000)
    #expect(moment < moment.advanced(by: .milliseconds(1)))
    #expect(moment.advanced(by: .seconds(2)).since(moment) == .seconds(2))
  }

  @Test(
    "an offset that leads out of the years that RFC 3339 can write is refused",
    arguments: ["9999-12-31T23:59:59-23:59", "0000-01-01T00:00:00+00:01", "9999-12-31T23:59:60Z"]
  )
  func outsideTheYears(text: String) {
    #expect(Timestamp(rfc3339: text) == nil)
  }
}
