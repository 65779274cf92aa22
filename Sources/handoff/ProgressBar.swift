import Glibc

/// How far long work is, on standard error: a bar on a terminal, else a line for each tenth.
struct ProgressBar {
  private let name: String
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let began = ContinuousClock.now
  private var firstBytes: Int64?
  private var lastTenth = -1

  /// - Parameter name: what is done, in one word or two.
  init(_ name: String) {
    self.name = name
  }

  /// Shows how much of what there is to do is done; the unit is bytes where the total has any.
  mutating func show(_ count: Int, of total: Int, bytes: Int64, ofBytes totalBytes: Int64) {
    guard total > 0 else { return }
    let share =
      totalBytes > 0
      ? Double(bytes) / Double(totalBytes) : Double(count) / Double(total)
    let first = firstBytes ?? bytes
    firstBytes = first
    let elapsed = began.duration(to: .now)
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    var words = ["\(count) of \(total)"]
    if totalBytes > 0 {
      words.append("\(Self.size(bytes)) of \(Self.size(totalBytes))")
      let rate = seconds > 0.2 ? Double(bytes - first) / seconds : 0
      if rate > 0 {
        words.append("\(Self.size(Int64(rate)))/s")
        words.append("\(Self.time(Double(max(0, totalBytes - bytes)) / rate)) left")
      }
    }
    let text = words.joined(separator: ", ")
    if isTerminal {
      let full = Int(min(max(share, 0), 1) * 24)
      let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 24 - full)
      Terminal.progress("\(name) [\(bar)] \(text)")
    } else if Int(share * 10) > lastTenth {
      lastTenth = Int(share * 10)
      Terminal.error("\(name): \(text)")
    }
  }

  /// Clears the bar away.
  func end() {
    if isTerminal { Terminal.progress("") }
  }

  /// Three digits and a unit of a power of 1000.
  static func size(_ bytes: Int64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB"]
    var value = Double(bytes)
    var unit = 0
    while value >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    guard unit > 0, value < 99.95 else { return "\(Int(value.rounded())) \(units[unit])" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }

  /// Hours, minutes and seconds, of which the first two that are not zero.
  static func time(_ seconds: Double) -> String {
    let whole = Int(min(seconds.rounded(.up), 1e9))
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    if hours > 0 { return "\(hours) h \(minutes) min" }
    return minutes > 0 ? "\(minutes) min \(whole % 60) s" : "\(whole) s"
  }
}
