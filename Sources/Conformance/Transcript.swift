import HandoffProtocol
import Synchronization

/// What was exchanged with the plugin, cut to a readable length and without state tokens.
final class Transcript: Sendable {
  private static let longestLine = 400
  private static let mostLines = 40

  private struct State {
    var lines: [String] = []
    var tokens: [String] = []
  }

  private let state = Mutex(State())

  /// Remembers a token, which from now on is not shown.
  func conceal(_ token: String) {
    state.withLock { $0.tokens.append(token) }
  }

  /// The tokens that were given out.
  var tokens: [String] { state.withLock { $0.tokens } }

  /// Adds a line as it was sent; the oldest makes room for it.
  func add(_ side: String, _ line: [UInt8]) {
    state.withLock { state in
      // A token is never so long, so none is cut in two where it would still be shown.
      let head = String(
        decoding: line.prefix(Self.longestLine + StateToken.maximumLength),
        as: UTF8.self
      )
      let text = Self.redacted(head, state.tokens).prefix(Self.longestLine)
      let cut = line.count > Self.longestLine ? " … (\(line.count) bytes)" : ""
      if state.lines.count == Self.mostLines { state.lines.removeFirst() }
      state.lines.append("\(side): \(text)\(cut)")
    }
  }

  /// The last lines.
  func tail(_ count: Int) -> [String] {
    state.withLock { Array($0.lines.suffix(count)) }
  }

  /// A text without the tokens.
  func redacted(_ text: String) -> String {
    Self.redacted(text, tokens)
  }

  private static func redacted(_ text: String, _ tokens: [String]) -> String {
    tokens.reduce(text) { $0.replacing($1, with: "(state token)") }
      .replacing(/4711\.[A-Za-z0-9_-]{20,}/, with: "(changed state token)")
  }
}
