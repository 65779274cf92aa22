import HandoffConfig
import HandoffProtocol
import Testing

/// A local date and time on the days on which clocks are changed.
@Suite("PublishMoment: a host's zone")
struct PublishMomentTests {
  /// A zone that changes its distance from UTC at some moments.
  private struct Zone {
    let name: String
    let first: Int
    let changes: [(at: String, hours: Int)]

    func secondsEast(_ moment: Timestamp) -> Int {
      let last = changes.last { change in
        Timestamp(rfc3339: change.at).map { $0 <= moment } ?? false
      }
      return 3600 * (last?.hours ?? first)
    }
  }

  private static let zones = [
    Zone(
      name: "Berlin",
      first: 1,
      changes: [("2026-03-29T01:00:00Z", 2), ("2026-10-25T01:00:00Z", 1)]
    ),
    Zone(
      name: "New York",
      first: -5,
      changes: [("2026-03-08T07:00:00Z", -4), ("2026-11-01T06:00:00Z", -5)]
    ),
  ]

  @Test(
    "each local time is the moment that a clock on the wall shows it",
    arguments: [
      ("Berlin", "2026-03-29T01:30:00", "2026-03-29T00:30:00Z"),
      ("Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z"),
      ("Berlin", "2026-10-25T01:59:59", "2026-10-24T23:59:59Z"),
      ("Berlin", "2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
      ("New York", "2026-03-08T01:59:00", "2026-03-08T06:59:00Z"),
      ("New York", "2026-03-08T03:00:00", "2026-03-08T07:00:00Z"),
      ("New York", "2026-10-31T23:00:00", "2026-11-01T03:00:00Z"),
      // Comes twice: the later of the two.
      ("Berlin", "2026-10-25T02:30:00", "2026-10-25T01:30:00Z"),
      ("New York", "2026-11-01T01:30:00", "2026-11-01T06:30:00Z"),
      // Is left out: as long after the gap.
      ("Berlin", "2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
      ("New York", "2026-03-08T02:30:00", "2026-03-08T07:30:00Z"),
      // With an offset the zone has no say.
      ("New York", "2026-03-08T02:30:00+01:00", "2026-03-08T01:30:00Z"),
    ]
  )
  func local(zone: String, text: String, expected: String) throws {
    let zone = try #require(Self.zones.first { $0.name == zone })
    let moment = try #require(PublishMoment(text))
    #expect(moment.timestamp(secondsEast: zone.secondsEast) == Timestamp(rfc3339: expected))
  }
}
