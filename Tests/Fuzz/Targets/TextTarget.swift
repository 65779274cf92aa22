import HandoffConfig
import HandoffProtocol

extension FuzzTarget {
  /// The short texts that documents, arguments and addresses hold.
  static let texts = FuzzTarget("texts") { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let identifier = LocalIdentifier(text) {
      try hold(LocalIdentifier(identifier.text) == identifier, "an identifier that is none")
      try hold(LocalIdentifier(identifier.uuid) == identifier, "a UUID of another identifier")
      try hold(identifier.text.utf8.count == 43, "an identifier of another length")
    }
    if let moment = Timestamp(rfc3339: text) {
      try hold(Timestamp(rfc3339: moment.rfc3339) == moment, "another moment: \(moment.rfc3339)")
    }
    if let digest = ContentDigest(hex: text) {
      try hold(digest.hex == text.lowercased(), "another digest")
    }
    if let token = StateToken(text) {
      try hold(token.revealed == text, "another token")
      try hold(!"\(token)".contains(text) || text.utf8.count < 12, "a token that shows itself")
    }
    if let name = DestinationName(text) {
      try hold(name.text == text && CallbackID(text)?.text == text, "another name")
    }
    _ = PublishMoment(text)
  }
}
