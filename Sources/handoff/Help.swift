import HandoffConfig

/// Texts made from the commands' descriptions.
enum Help {
  static var overview: String {
    let width = Commands.all.map(\.name.count).max() ?? 0
    let lines = Commands.all.map { command in
      let gap = String(repeating: " ", count: width - command.name.count + 2)
      return "  \(command.name)\(gap)\(command.summary)"
    }
    return """
      handoff: takes finished videos from export folders, imports each once, and hands it off.

      usage: handoff COMMAND [OPTION]...

      \(lines.joined(separator: "\n"))

      `handoff COMMAND --help` tells more. Start with `handoff init`, then `handoff serve`.
      """
  }

  static func text(of command: Command) -> String {
    let options = command.options.map { option in
      ("--" + option.name + (option.value.map { " " + $0 } ?? ""), option.help)
    }
    let width = options.map(\.0.count).max() ?? 0
    let lines = options.map { name, help in
      "  \(name)\(String(repeating: " ", count: width - name.count + 2))\(help)"
    }
    var text =
      "usage: handoff \(command.name) [OPTION]...\(command.operands.isEmpty ? "" : " ")"
      + "\(command.operands)\n\n\(command.summary)\n\n"
    text += lines.joined(separator: "\n")
    if !command.examples.isEmpty {
      text += "\n\nexamples:\n" + command.examples.map { "  " + $0 }.joined(separator: "\n")
    }
    return text
  }

  static func unknownCommand(_ name: String) -> String {
    let nearest = NearestKey.of(name, among: Commands.all.map(\.name), within: 2)
    let hint = nearest.map { "; did you mean `handoff \($0)`?" } ?? "; see `handoff --help`"
    return "handoff: there is no command `\(name)`\(hint)"
  }
}
