/// A moment in whole milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Written as RFC 3339 in UTC with milliseconds. Who needs the present moment is given it: nothing
/// here reads a clock.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Milliseconds since 1970; negative before.
  public let milliseconds: Int64

  /// Takes milliseconds since 1970.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// The left moment is the earlier one.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment a duration later (or earlier, if negative), or the last (first) there is.
  public func advanced(by duration: Duration) -> Timestamp {
    Timestamp(milliseconds: milliseconds.addingClamped(duration.wholeMilliseconds))
  }

  /// The time from an earlier moment to this one.
  public func since(_ earlier: Timestamp) -> Duration {
    // Doubles the range, so that no two moments are too far apart.
    .milliseconds(milliseconds) - .milliseconds(earlier.milliseconds)
  }

  /// RFC 3339, for example `2026-11-30T14:39:00.000Z`.
  public var rfc3339: String {
    let (day, time) = milliseconds.quotientAndFloorRemainder(by: 86_400_000)
    let (year, month, dayOfMonth) = Self.civil(fromDays: day)
    func pad(_ value: Int64, _ width: Int) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(dayOfMonth, 2))T\(pad(time / 3_600_000, 2)):"
      + "\(pad(time / 60_000 % 60, 2)):\(pad(time / 1000 % 60, 2)).\(pad(time % 1000, 3))Z"
  }

  /// Reads RFC 3339 with `Z` or a numeric offset and any count of fraction digits; nil for anything
  /// else.
  public init?(rfc3339 text: String) {
    var rest = Substring(text)
    func number(_ width: Int) -> Int64? {
      guard rest.utf8.count >= width, rest.prefix(width).utf8.allSatisfy({ (48...57).contains($0) })
      else { return nil }
      defer { rest = rest.dropFirst(width) }
      return Int64(rest.prefix(width))
    }
    func skip(_ characters: String) -> Bool {
      guard let first = rest.first, characters.contains(first) else { return false }
      rest = rest.dropFirst()
      return true
    }
    guard let year = number(4), skip("-"), let month = number(2), skip("-"), let day = number(2),
      skip("Tt "), let hour = number(2), skip(":"), let minute = number(2), skip(":"),
      let second = number(2), (1...12).contains(month), (1...31).contains(day), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if skip(".") {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      fraction = Int64((String(digits) + "00").prefix(3)) ?? 0
    }
    var offset: Int64 = 0
    if !skip("Zz") {
      let sign: Int64 = rest.first == "-" ? -1 : 1
      guard skip("+-"), let hours = number(2), skip(":"), let minutes = number(2), hours < 24,
        minutes < 60
      else { return nil }
      offset = sign * (hours * 60 + minutes)
    }
    guard rest.isEmpty else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    // A day that its month does not have would be one of the next month.
    guard Self.civil(fromDays: days) == (year, month, day) else { return nil }
    let moment =
      ((days * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1000 + fraction
    // RFC 3339 writes four digits of a year: what an offset moves out of them could not be written.
    guard Self.writable.contains(moment) else { return nil }
    self.init(milliseconds: moment)
  }

  /// It is in the years that RFC 3339 can write, 0000 to 9999.
  var isWritable: Bool { Self.writable.contains(milliseconds) }

  /// The years 0000 to 9999.
  private static let writable =
    days(year: 0, month: 1, day: 1) * 86_400_000..<days(year: 10_000, month: 1, day: 1) * 86_400_000

  /// Days since 1970 to year, month, day in the proleptic Gregorian calendar, by eras of 400 years.
  private static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
    let (era, dayOfEra) = (days + 719_468).quotientAndFloorRemainder(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = shiftedYear.quotientAndFloorRemainder(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

extension Duration {
  /// The duration in whole milliseconds, cut towards zero and clamped to `Int64`.
  public var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    return product.addingClamped(attoseconds / 1_000_000_000_000_000)
  }
}

extension Int64 {
  fileprivate func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  fileprivate func quotientAndFloorRemainder(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

extension Timestamp: Codable {
  /// Decodes RFC 3339.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let moment = Timestamp(rfc3339: text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not an RFC 3339 time")
      )
    }
    self = moment
  }

  /// Encodes RFC 3339.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rfc3339)
  }
}
