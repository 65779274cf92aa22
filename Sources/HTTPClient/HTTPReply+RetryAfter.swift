extension HTTPReply {
  /// The longest wait that is taken seriously: a year, in seconds.
  private static let longest = 31_536_000
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// How many seconds to wait, as `Retry-After` says (RFC 9110, section 10.2.3): a number of seconds or a
  /// date; nil where it says nothing that can be read.
  ///
  /// - Parameter now: seconds since 1970.
  /// - Returns: seconds, at most a year; 0 for a date that has passed.
  package func retryAfter(now: Int64) -> Int? {
    guard let text = headers["retry-after"] else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return min(Int(text) ?? Self.longest, Self.longest)
    }
    guard let moment = Self.seconds(ofDate: text) else { return nil }
    return Int(clamping: min(max(moment - now, 0), Int64(Self.longest)))
  }

  /// An IMF-fixdate, as `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since 1970; nil for anything else.
  ///
  /// The two other forms of RFC 9110 are not read: nobody may write them since 1999.
  static func seconds(ofDate text: String) -> Int64? {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 6, words[0].utf8.count == 4, words[0].hasSuffix(","), words[5] == "GMT",
      let month = months.firstIndex(where: { $0 == words[2] }),
      let day = number(words[1], 2), let year = number(words[3], 4), (1...31).contains(day)
    else { return nil }
    let time = words[4].split(separator: ":", omittingEmptySubsequences: false)
    guard time.count == 3, let hour = number(time[0], 2), let minute = number(time[1], 2),
      let second = number(time[2], 2), hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = Self.days(year: year, month: Int64(month) + 1, day: day)
    return ((days * 24 + hour) * 60 + minute) * 60 + second
  }

  private static func number(_ text: Substring, _ width: Int) -> Int64? {
    guard text.utf8.count == width, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      return nil
    }
    return Int64(text)
  }

  /// Days from 1970 to a date of the Gregorian calendar, the year counted from March so that the day of a
  /// leap year is its last.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let month = month <= 2 ? month + 9 : month - 3
    let dayOfYear = (153 * month + 2) / 5 + day - 1
    return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
  }
}
