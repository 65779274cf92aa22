import Paths

/// One command: its description, from which help is made, and what it does.
struct Command: Sendable {
  let name: String
  /// The operands in help.
  let operands: String
  /// One line.
  let summary: String
  let options: [Option]
  let examples: [String]
  let run: @Sendable (ParsedArguments) async throws -> ExitCode

  init(
    _ name: String,
    _ operands: String = "",
    _ summary: String,
    options: [Option] = [],
    examples: [String] = [],
    run: @escaping @Sendable (ParsedArguments) async throws -> ExitCode
  ) {
    self.name = name
    self.operands = operands
    self.summary = summary
    self.options = options + Self.common
    self.examples = examples
    self.run = run
  }

  /// Options of every command.
  static let common = [
    Option(
      "config",
      "FILE",
      "the configuration (else HANDOFF_CONFIG, ./handoff.toml, ~/.config, /etc)"
    ),
    Option("json", nil, "one JSON document on standard output"),
    Option("help", nil, "this text"),
  ]

  func parse(_ arguments: [BytePath]) throws -> ParsedArguments {
    let parsed = try ParsedArguments(arguments, options: options, command: name)
    let count = operands.split(separator: " ").count
    let limit = operands.hasSuffix("...") ? Int.max : count
    if parsed.operands.count > limit {
      let extra = parsed.operands[limit].displayText
      throw CommandFailure(.usage, "handoff \(name): \(extra) is one word too many; see --help")
    }
    return parsed
  }
}
