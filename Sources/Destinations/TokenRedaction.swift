package import HandoffCore
package import HandoffProtocol
import Synchronization

/// Replaces state tokens and grants in what receivers print, before anybody else sees it.
///
/// It is for accidents: a receiver that means to tell its token can write it in another form.
package final class TokenRedaction: Sendable {
  private struct Secret: Equatable {
    let bytes: [UInt8]
    let replacement: [UInt8]
  }

  private struct Known {
    var tokens: [Secret] = []
    /// Bytes; most texts are shorter, and hold none.
    var shortest = Int.max
  }

  private let capacity: Int
  private let known = Mutex(Known())

  /// Knows the last tokens, as many as its capacity.
  package init(capacity: Int = 1024) {
    self.capacity = capacity
  }

  /// Knows a token from now on.
  package func add(_ token: StateToken) {
    add(token.revealed, shownAs: "(state token)")
  }

  /// Knows a grant from now on.
  package func add(_ grant: Grant) {
    add(grant.revealed, shownAs: grant.description)
  }

  private func add(_ text: String, shownAs replacement: String) {
    let token = Secret(bytes: Array(text.utf8), replacement: Array(replacement.utf8))
    known.withLock { known in
      if known.tokens.contains(token) { return }
      if known.tokens.count == capacity { known.tokens.removeFirst() }
      known.tokens.append(token)
      known.shortest = min(known.shortest, token.bytes.count)
    }
  }

  /// The text with every known token replaced.
  package func redacted(_ text: String) -> String {
    let known = known.withLock { $0 }
    guard text.utf8.count >= known.shortest else { return text }
    var bytes = Array(text.utf8)
    var isChanged = false
    for token in known.tokens {
      var start = 0
      while let place = Self.place(of: token.bytes, in: bytes, from: start) {
        bytes.replaceSubrange(place..<place + token.bytes.count, with: token.replacement)
        start = place + token.replacement.count
        isChanged = true
      }
    }
    return isChanged ? String(decoding: bytes, as: UTF8.self) : text
  }

  private static func place(of token: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
    guard let first = token.first, bytes.count - start >= token.count else { return nil }
    return (start...bytes.count - token.count).first { place in
      bytes[place] == first && bytes[place...].starts(with: token)
    }
  }
}
