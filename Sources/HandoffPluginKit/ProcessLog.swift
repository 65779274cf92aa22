import Glibc

/// The kit's own lines on standard error, which the broker keeps as the plugin's log.
enum ProcessLog {
  /// Writes one line; where standard error is gone there is nobody left to tell.
  static func write(_ line: String) {
    let text = line.split(whereSeparator: \.isNewline).joined(separator: " ") + "\n"
    let bytes = Array(text.utf8)
    _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
  }
}
