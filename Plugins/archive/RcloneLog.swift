import HandoffProtocol
import Synchronization

/// What rclone writes to standard error as JSON: its last errors, and how many bytes it has moved.
///
/// It keeps little, however much is written.
final class RcloneLog: Sendable {
  private struct State {
    var partial: [UInt8] = []
    var isTooLong = false
    var errors: [String] = []
  }

  private static let longestLine = 65_536
  private static let mostErrors = 4

  private let state = Mutex(State())
  private let onBytes: @Sendable (Int64) -> Void

  /// - Parameter onBytes: told how many bytes are moved, each time rclone says so.
  init(onBytes: @escaping @Sendable (Int64) -> Void) {
    self.onBytes = onBytes
  }

  /// Takes the next piece.
  func take(_ bytes: [UInt8]) {
    let lines = state.withLock { state -> [[UInt8]] in
      var lines: [[UInt8]] = []
      for piece in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        .enumerated()
      {
        if piece.offset > 0 {
          if !state.isTooLong { lines.append(state.partial) }
          state.partial = []
          state.isTooLong = false
        }
        if state.partial.count + piece.element.count > Self.longestLine {
          state.partial = []
          state.isTooLong = true
        }
        if !state.isTooLong { state.partial += piece.element }
      }
      return lines
    }
    for line in lines where !line.isEmpty { read(line) }
  }

  /// The last things that went wrong, oldest first, as rclone says them.
  var errors: [String] {
    let rest = state.withLock { state -> [UInt8] in
      defer { state.partial = [] }
      return state.partial
    }
    if !rest.isEmpty { read(rest) }
    return state.withLock { $0.errors }
  }

  private func read(_ line: [UInt8]) {
    guard line.first == UInt8(ascii: "{") else {
      return note(Self.withoutTime(String(decoding: line, as: UTF8.self)))
    }
    do {
      let entry = try WireCoder.decode(JSONValue.self, from: line)
      if let bytes = entry["stats"]?["bytes"]?.integer { onBytes(bytes) }
      let text = entry["msg"]?.text ?? ""
      // The last word of newer releases is only a notice.
      let isError = ["error", "critical", "fatal"].contains(entry["level"]?.text)
      if isError || text.hasPrefix("Failed to ") {
        let object = entry["object"]?.text ?? ""
        note(object.isEmpty ? text : "\(object): \(text)")
      }
    } catch {
      note(String(decoding: line, as: UTF8.self))
    }
  }

  private func note(_ text: String) {
    let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    guard !words.isEmpty else { return }
    state.withLock { state in
      state.errors.removeAll { $0 == words }
      state.errors.append(words)
      if state.errors.count > Self.mostErrors { state.errors.removeFirst() }
    }
  }

  /// Without the `2026/12/01 09:38:52 ` in front of what is not JSON.
  private static func withoutTime(_ line: String) -> String {
    let words = line.split(separator: " ", maxSplits: 2)
    guard words.count == 3, words[0].contains("/"), words[1].contains(":"),
      (words[0] + words[1]).allSatisfy({ $0.isNumber || $0 == "/" || $0 == ":" || $0 == "." })
    else { return line }
    return String(words[2])
  }
}
