/// Quantities and names as people in post-production write them.
enum PageText {
  /// `1:02:03.4`, `0:07.04`: hours only where there are any.
  static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds >= 0, seconds < 1e9 else { return "unknown" }
    let hundredths = Int64((seconds * 100).rounded())
    let (hours, minutes, rest) = (hundredths / 360_000, hundredths / 6000 % 60, hundredths % 6000)
    var text = hours > 0 ? "\(hours):\(padded(minutes))" : "\(minutes)"
    text += ":\(padded(rest / 100))"
    if rest % 100 != 0 { text += ".\(padded(rest % 100))" }
    return text
  }

  /// `1:02:03`, for where there is little room; `0:01` for anything shorter than that.
  static func shortDuration(_ seconds: Double) -> String {
    duration(seconds < 1e9 ? max(1, seconds.rounded()) : seconds)
  }

  /// `2026-12-01 09:40 UTC`, from RFC 3339 in UTC.
  static func moment(_ rfc3339: String) -> String {
    "\(rfc3339.prefix(16)) UTC".replacing("T", with: " ", maxReplacements: 1)
  }

  /// `1.25 GB`, in steps of 1000.
  static func bytes(_ count: Int64) -> String {
    scaled(Double(count), ["bytes", "kB", "MB", "GB", "TB", "PB"])
  }

  /// `12.3 Mb/s`.
  static func bitRate(_ bits: Int) -> String {
    scaled(Double(bits), ["b/s", "kb/s", "Mb/s", "Gb/s"])
  }

  /// `48 kHz`, `44.1 kHz`.
  static func sampleRate(_ samples: Int) -> String {
    scaled(Double(samples), ["Hz", "kHz", "MHz"])
  }

  /// `29.97`, `25`: no zeros at the end.
  static func number(_ value: Double, digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "unknown" }
    let factor = (0..<digits).reduce(1) { whole, _ in whole * 10 }
    let whole = Int64((abs(value) * Double(factor)).rounded())
    var text = String(whole / Int64(factor))
    let rest = String(whole % Int64(factor))
    let fraction = String(repeating: "0", count: digits - min(digits, rest.count)) + rest
    let end = fraction.lastIndex { $0 != "0" }
    if digits > 0, let end { text += ".\(fraction[...end])" }
    return value < 0 && whole != 0 ? "−\(text)" : text
  }

  /// One digit after the point, also a zero: levels are compared with one another.
  static func level(_ value: Double) -> String {
    let text = number(value, digits: 1)
    return text.contains(".") ? text : "\(text).0"
  }

  /// `1920 × 1080`.
  static func size(_ width: Int, _ height: Int) -> String {
    "\(width) × \(height)"
  }

  /// `16:9`, or `1.85:1` where the numbers are no small ones.
  static func aspect(_ width: Int, _ height: Int) -> String? {
    guard width > 0, height > 0 else { return nil }
    let ratio = Double(width) / Double(height)
    let usual = [(16, 9), (9, 16), (4, 3), (3, 4), (1, 1), (4, 5), (5, 4), (3, 2), (2, 3), (21, 9)]
    if let near = usual.first(where: { abs(ratio / (Double($0) / Double($1)) - 1) < 0.006 }) {
      return "\(near.0):\(near.1)"
    }
    return ratio >= 1 ? "\(number(ratio, digits: 2)):1" : "1:\(number(1 / ratio, digits: 2))"
  }

  private static func padded(_ value: Int64) -> String {
    value < 10 ? "0\(value)" : String(value)
  }

  /// Three digits that say something: `1.25 GB`, `12.5 GB`, `125 GB`.
  private static func scaled(_ value: Double, _ units: [String]) -> String {
    var (value, index) = (value, 0)
    while value >= 999.5, index < units.count - 1 {
      value /= 1000
      index += 1
    }
    if index == 0 { return "\(number(value, digits: 0)) \(units[0])" }
    return "\(number(value, digits: value < 9.995 ? 2 : value < 99.95 ? 1 : 0)) \(units[index])"
  }
}
