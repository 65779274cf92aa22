package import Paths

/// One thing that is wrong with a configuration or sidecar file, and where.
package struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
  package var file: BytePath
  /// From 1.
  package var line: Int
  /// From 1, in code points.
  package var column: Int
  /// One sentence that says what to change; no values that may be secret.
  package var text: String

  package init(file: BytePath, line: Int, column: Int, text: String) {
    self.file = file
    self.line = line
    self.column = column
    self.text = text
  }

  /// `FILE:LINE:COLUMN: text`, on one line.
  package var description: String { "\(file.displayText):\(line):\(column): \(text)" }
}

/// A file that cannot be used, with everything that is wrong with it.
package struct ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// At least one, in order of their places.
  package var problems: [ConfigurationProblem]

  package init(problems: [ConfigurationProblem]) {
    self.problems = problems
  }

  /// One problem a line.
  package var description: String { problems.map(\.description).joined(separator: "\n") }
}
