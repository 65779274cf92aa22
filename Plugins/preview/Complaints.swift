import Synchronization

/// The error lines of a run.
struct Complaints: Sendable {
  /// How many there were.
  var count = 0
  /// The first one, without the address of the part that said it.
  var first: String?
  fileprivate(set) var last: String?
  /// The disk was full.
  fileprivate(set) var hasNoSpace = false

  /// The last line that says something about the file.
  var reason: String { last ?? remark ?? "" }
  /// What is said after every failure, for want of better.
  fileprivate var remark: String?
}

/// Counts error lines and keeps the few that are told: a damaged file gives millions.
final class ComplaintLog: Sendable {
  private let state = Mutex(Complaints())

  var complaints: Complaints { state.withLock { $0 } }

  func take(_ line: String) {
    let line = Self.plain(line)
    if line.isEmpty { return }
    if line.contains("No space left on device") { state.withLock { $0.hasNoSpace = true } }
    if Self.isEmpty(line) {
      state.withLock { $0.remark = $0.remark ?? line }
      return
    }
    state.withLock {
      $0.count += 1
      if $0.first == nil { $0.first = line }
      $0.last = line
    }
  }

  /// What ffmpeg says after every failure, whatever it was.
  private static func isEmpty(_ line: String) -> Bool {
    [
      "Conversion failed!", "Error marking filters as finished", "Error while filtering",
      "Failed to inject frame into filter network", "Error while processing the decoded data",
      "Cannot determine format of input stream", "Error reinitializing filters",
      "Error initializing output stream",
    ].contains { line.hasPrefix($0) }
  }

  /// `[h264 @ 0x55d0c8a4f900] text` without the address, printable, and of a bounded length.
  private static func plain(_ line: String) -> String {
    var text = ""
    var rest = line[...]
    while let at = rest.firstRange(of: " @ 0x"),
      let end = rest[at.upperBound...].firstIndex(of: "]")
    {
      text += rest[..<at.lowerBound]
      rest = rest[end...]
    }
    text += rest
    let printable = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
    return String(String(String.UnicodeScalarView(printable)).prefix(300))
  }
}
