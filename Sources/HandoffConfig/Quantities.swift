import HandoffCore
import HandoffProtocol

/// Amounts as the configuration writes them: text with a unit, read and written.
package enum Quantities {
  private static let durationUnits: [(unit: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]

  private static let sizeUnits: [(unit: String, bytes: Int64)] = [
    ("B", 1), ("kB", 1000), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
    ("TiB", 1 << 40),
  ]

  /// A century: nothing that is configured is longer, and sums of such durations do not overflow.
  static let longest: Duration = .seconds(36_525 * 86_400)

  /// Reads a whole number with `ms`, `s`, `m`, `h` or `d`, or several in a row as in `1h30m`.
  package static func duration(_ text: String) -> Duration? {
    var rest = text[...]
    var total: Int64 = 0
    repeat {
      guard let number = wholeNumber(&rest) else { return nil }
      let unit = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(unit.count)
      guard let scale = durationUnits.first(where: { $0.unit == unit })?.milliseconds,
        let sum = sum(total, number, scale)
      else { return nil }
      total = sum
    } while !rest.isEmpty
    return .milliseconds(total) <= longest ? .milliseconds(total) : nil
  }

  /// Reads a whole number with `B`, `kB`, `MB`, `GB`, `TB` (powers of 1000) or `KiB`, `MiB`, `GiB`,
  /// `TiB` (powers of 1024).
  package static func size(_ text: String) -> Int64? {
    var rest = text[...]
    guard let number = wholeNumber(&rest),
      let scale = sizeUnits.first(where: { $0.unit == rest })?.bytes
    else { return nil }
    return sum(0, number, scale)
  }

  /// Reads `5%` or a size.
  static func reserve(_ text: String) -> LibrarySettings.Reserve? {
    guard text.hasSuffix("%") else { return size(text).map { .bytes($0) } }
    let digits = text.dropLast()
    guard digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
      let percent = Double(digits), (0...100).contains(percent)
    else { return nil }
    return .percent(percent)
  }

  /// Reads `5/24h`.
  static func quota(_ text: String) -> Quota? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let duration = duration(String(parts[1])), duration > .zero else {
      return nil
    }
    var digits = parts[0]
    guard let count = wholeNumber(&digits), digits.isEmpty, (1...1_000_000).contains(count) else {
      return nil
    }
    return Quota(count: Int(count), duration: duration)
  }

  /// The duration in the largest units that leave nothing over, as `duration(_:)` reads it.
  package static func text(_ duration: Duration) -> String {
    let milliseconds = duration.wholeMilliseconds
    let fitting = durationUnits.last { milliseconds != 0 && milliseconds % $0.milliseconds == 0 }
    guard let fitting else { return "0s" }
    return "\(milliseconds / fitting.milliseconds)\(fitting.unit)"
  }

  /// The size in the largest power of 1000 that leaves nothing over.
  package static func text(_ bytes: Int64) -> String {
    let decimal = sizeUnits.filter { !$0.unit.contains("i") && $0.unit != "kB" }
    let fitting = decimal.last { bytes != 0 && bytes % $0.bytes == 0 }
    guard let fitting else { return "\(bytes)B" }
    return "\(bytes / fitting.bytes)\(fitting.unit)"
  }

  private static func wholeNumber(_ rest: inout Substring) -> Int64? {
    let digits = rest.prefix { ("0"..."9").contains($0) }
    rest = rest.dropFirst(digits.count)
    return Int64(digits)
  }

  private static func sum(_ total: Int64, _ number: Int64, _ scale: Int64) -> Int64? {
    let (product, overflow) = number.multipliedReportingOverflow(by: scale)
    let (sum, over) = total.addingReportingOverflow(product)
    return overflow || over ? nil : sum
  }
}
