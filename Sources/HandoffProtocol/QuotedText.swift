extension StringProtocol {
  /// The text for a refusal's sentence; only its length where it could be a secret.
  ///
  /// Whoever sends a document may put a state token where another member belongs, and the sentence
  /// goes to logs. A token is longer than what is shown, and no part of one is shown either.
  package var quotedOrLength: String {
    let isPlain = unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    return isPlain && utf8.count <= 24 ? "\(self)" : "(\(utf8.count) bytes)"
  }
}
