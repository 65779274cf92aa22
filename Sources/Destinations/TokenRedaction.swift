package import HandoffProtocol
import Synchronization

/// Replaces state tokens in what receivers print, before anybody else sees it.
///
/// It is for accidents: a receiver that means to tell its token can write it in another form.
package final class TokenRedaction: Sendable {
  private let capacity: Int
  private let tokens = Mutex<[String]>([])

  /// Knows the last tokens, as many as its capacity.
  package init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  /// Knows a token from now on.
  package func add(_ token: StateToken) {
    tokens.withLock { tokens in
      if tokens.contains(token.revealed) { return }
      if tokens.count == capacity { tokens.removeFirst() }
      tokens.append(token.revealed)
    }
  }

  /// The text with every known token replaced.
  package func redacted(_ text: String) -> String {
    let known = tokens.withLock { $0 }
    var bytes = Array(text.utf8)
    for token in known { bytes = Self.replace(Array(token.utf8), in: bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func replace(_ token: [UInt8], in bytes: [UInt8]) -> [UInt8] {
    guard let first = token.first, bytes.count >= token.count else { return bytes }
    var result: [UInt8] = []
    var index = 0
    while index < bytes.count {
      let rest = bytes[index...]
      if rest.first == first, rest.starts(with: token) {
        result += "(state token)".utf8
        index += token.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }
}
