import Conformance
import Glibc
import HandoffConfig
import HandoffProtocol
import LinuxSystem
import Paths

extension Command {
  /// The conformance kit.
  static let plugin = Command(
    "plugin",
    "test EXECUTABLE",
    "play the broker against a plugin and say what its author must mend",
    options: [
      Option(
        "settings",
        "FILE",
        "its `settings` table, as TOML, or JSON if the name ends in .json"
      ),
      Option("env", "NAME", "give it this environment variable; may be repeated"),
      Option("only", "CHECK", "make this check only, besides the introduction; may be repeated"),
      Option("within", "SECONDS", "how long a result may take (60)"),
    ],
    examples: ["handoff plugin test ./my-plugin --settings settings.toml"]
  ) { arguments in
    let program = try PluginTest.program(arguments)
    var limits = Conformance.Limits()
    if let text = arguments.text("within") {
      guard let seconds = Int(text), (1...86_400).contains(seconds) else {
        throw CommandFailure(.usage, "handoff plugin: --within \(text) is no number of seconds")
      }
      limits.result = .seconds(seconds)
    }
    let kit = Conformance(
      executable: program,
      settings: try PluginTest.settings(arguments),
      variables: try PluginTest.variables(arguments),
      searchPath: environmentValue("PATH") ?? CommandSearch.defaultPath,
      temporary: BytePath(environmentValue("TMPDIR") ?? "/tmp"),
      mark: "\(getpid())",
      only: try PluginTest.checks(arguments),
      limits: limits
    )
    let wantsJSON = arguments.has("json")
    let report = try await kit.run { entry in
      if !wantsJSON { for line in entry.lines { Terminal.out(line) } }
    }
    if wantsJSON {
      try Terminal.json(report)
    } else {
      for line in report.summary { Terminal.out(line) }
    }
    return report.failures.isEmpty ? .done : .failed
  }
}

/// Reads the arguments of `handoff plugin test`.
private enum PluginTest {
  static func program(_ arguments: ParsedArguments) throws -> BytePath {
    guard arguments.operands.count == 2, arguments.operands[0] == "test" else {
      throw CommandFailure(
        .usage,
        "handoff plugin: `test` and an executable are needed; see --help"
      )
    }
    let name = arguments.operands[1]
    let isBare = !name.bytes.contains(UInt8(ascii: "/"))
    let found = CommandSearch.program(
      ConfigurationFile.absolute(name).lossyText,
      beside: "/",
      searchPath: ""
    )
    if let found { return found }
    let onPath = environmentValue("PATH").flatMap { CommandSearch.find(name.lossyText, on: $0) }
    if isBare, let onPath { return onPath }
    throw CommandFailure(
      .notFound,
      "handoff plugin: \(name.displayText) is not there or not executable"
    )
  }

  static func settings(_ arguments: ParsedArguments) throws -> JSONValue? {
    guard let given = arguments.path("settings") else { return nil }
    let file = ConfigurationFile.absolute(given)
    do {
      let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 1 << 20)
      return try PluginSettingsFile.decode(bytes: bytes, file: given, directory: file.parent)
    } catch let error as ConfigurationError {
      throw CommandFailure(.usage, error.description)
    } catch {
      throw CommandFailure(.usage, "handoff plugin: \(error)")
    }
  }

  static func checks(_ arguments: ParsedArguments) throws -> Set<CheckName> {
    var checks: Set<CheckName> = []
    for text in arguments.texts("only") {
      guard let name = CheckName(rawValue: text) else {
        let all = CheckName.allCases.map(\.rawValue).joined(separator: ", ")
        throw CommandFailure(.usage, "handoff plugin: --only \(text) is none of \(all)")
      }
      checks.insert(name)
    }
    return checks
  }

  static func variables(_ arguments: ParsedArguments) throws -> [String: String] {
    var variables: [String: String] = [:]
    for name in arguments.texts("env") {
      guard let value = environmentValue(name) else {
        throw CommandFailure(.usage, "handoff plugin: --env \(name): there is no such variable")
      }
      variables[name] = value
    }
    return variables
  }
}
