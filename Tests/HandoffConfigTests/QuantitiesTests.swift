import HandoffCore
import Testing

@testable import HandoffConfig

@Suite("Quantities")
struct QuantitiesTests {
  @Test(
    "a duration is a whole number with a unit, or several",
    arguments: [
      ("0s", 0), ("250ms", 250), ("1s", 1000), ("10m", 600_000), ("24h", 86_400_000),
      ("30d", 2_592_000_000), ("1h30m", 5_400_000),
    ]
  )
  func durations(text: String, milliseconds: Int) {
    #expect(Quantities.duration(text) == .milliseconds(milliseconds))
  }

  @Test(
    "anything else is no duration",
    arguments: [
      "", "5", "s", "-1s", "+1s", "1.5s", "1 s", " 1s", "1S", "1w", "1s ", "5min", "٣s",
      "99999999999999999999s", "9223372036854775807d", "40000d", "5\u{301}s",
    ]
  )
  func noDurations(text: String) {
    #expect(Quantities.duration(text) == nil)
  }

  @Test(
    "a duration is written so that it is read as the same",
    arguments: [0, 1, 1500, 60_000, 5_400_000, 86_400_000]
  )
  func writtenDurations(milliseconds: Int) {
    let duration = Duration.milliseconds(milliseconds)
    #expect(Quantities.duration(Quantities.text(duration)) == duration)
  }

  @Test(
    "a size is a whole number with a unit of 1000 or of 1024",
    arguments: [
      ("0B", 0), ("512B", 512), ("1kB", 1000), ("2GB", 2_000_000_000), ("1GiB", 1_073_741_824),
      ("3TB", 3_000_000_000_000),
    ]
  )
  func sizes(text: String, bytes: Int64) {
    #expect(Quantities.size(text) == bytes)
    #expect(Quantities.size(Quantities.text(bytes)) == bytes)
  }

  @Test(
    "anything else is no size",
    arguments: ["", "5", "GB", "-1B", "1gb", "1 GB", "9999999999TB", "1.5GB"]
  )
  func noSizes(text: String) {
    #expect(Quantities.size(text) == nil)
  }

  @Test("a reserve is a share or a size")
  func reserves() {
    #expect(Quantities.reserve("5%") == .percent(5))
    #expect(Quantities.reserve("0.5%") == .percent(0.5))
    #expect(Quantities.reserve("10GB") == .bytes(10_000_000_000))
    for text in ["", "%", "-1%", "101%", "nan%", "inf%", "0x5%", "5", "5%%"] {
      #expect(Quantities.reserve(text) == nil, "\(text)")
    }
    #expect(LibrarySettings.Reserve.percent(5).bytes(of: 200) == 10)
  }

  @Test("a quota is a number and a duration")
  func quotas() {
    #expect(Quantities.quota("5/24h") == Quota(count: 5, duration: .seconds(86_400)))
    for text in ["", "5", "5/", "/24h", "0/24h", "5/0s", "5/24h/1", "-5/24h", "5 / 24h"] {
      #expect(Quantities.quota(text) == nil, "\(text)")
    }
  }
}
