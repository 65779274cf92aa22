import Paths

/// What decoding one file collects: problems, the keys that were asked for, and where each key stands.
///
/// Keys are named by their path, as `drop_folder[0].quiet`; a table's shape is its path without what
/// the file chose: `drop_folder`, `destination.*.retry`.
final class DecodingContext {
  let file: BytePath
  /// Absolute; relative paths in the file are relative to it.
  let directory: BytePath
  private(set) var problems: [ConfigurationProblem] = []
  private(set) var known: [String: Set<String>] = [:]
  private(set) var places: [String: Place] = [:]

  init(file: BytePath, directory: BytePath) {
    self.file = file
    self.directory = directory
  }

  func report(_ text: String, at place: Place) {
    problems.append(
      ConfigurationProblem(file: file, line: place.line, column: place.column, text: text)
    )
  }

  /// Reports at the place of a path, or of the nearest that holds it where the file does not have it.
  func report(_ text: String, at path: String) {
    report(text, at: place(of: path))
  }

  func place(of path: String) -> Place {
    var rest = path[...]
    while !rest.isEmpty {
      if let place = places[String(rest)] { return place }
      guard let cut = rest.lastIndex(where: { $0 == "." || $0 == "[" }) else { break }
      rest = rest[..<cut]
    }
    return .start
  }

  func note(_ key: String, of shape: String) {
    known[shape, default: []].insert(key)
  }

  func note(_ place: Place, of path: String) {
    places[path] = place
  }

  /// The absolute form of a path in the file, without `.` parts; `..` stays, because what it means
  /// depends on symbolic links.
  func absolute(_ text: String) -> BytePath {
    directory.appending(BytePath(text)).components
      .filter { $0 != "." }
      .reduce("/") { $0.appending($1) }
  }

  /// Everything that is wrong, in order of places, as an error; nil if nothing is.
  var error: ConfigurationError? {
    guard !problems.isEmpty else { return nil }
    let sorted = problems.enumerated().sorted { left, right in
      (left.element.line, left.element.column, left.offset)
        < (right.element.line, right.element.column, right.offset)
    }
    return ConfigurationError(problems: sorted.map(\.element))
  }
}

extension String {
  /// The text between quotation marks, on one line and cut to a length, for a problem's sentence.
  var quoted: String {
    let shown = BytePath(String(prefix(80))).displayText
    return "\"\(shown)\(count > 80 ? "…" : "")\""
  }
}
