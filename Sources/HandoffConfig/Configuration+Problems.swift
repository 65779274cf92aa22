extension Configuration {
  /// A problem that only the machine shows, at the place of the key that it comes from.
  ///
  /// - Parameters:
  ///   - text: one sentence that says what to change; no values that may be secret.
  ///   - path: the key's, as `destination.hook.secret`.
  /// - Returns: the problem, at the file's start where it does not have the key.
  package func problem(_ text: String, at path: String) -> ConfigurationProblem {
    let place = places[path] ?? .start
    return ConfigurationProblem(
      file: file,
      line: place.line,
      column: place.column,
      text: "\(path): \(text)"
    )
  }
}
