import HandoffConfig
import HandoffCore
import HandoffService
import Paths

extension Command {
  /// Validates the configuration.
  static let check = Command(
    "check",
    "",
    "validate the configuration; what it keeps and what a first start would find",
    options: [Option("print", nil, "the effective values, without secrets")]
  ) { arguments in
    let configuration = try ConfigurationFile.loadStrictly(arguments)
    let secrets = Secrets(of: configuration, environment: ProcessEnvironment.values)
    if !secrets.problems.isEmpty {
      throw CommandFailure(.usage, secrets.problems.map(\.description).joined(separator: "\n"))
    }
    if arguments.has("print") {
      Terminal.out(configuration.effectiveText)
      return .done
    }
    let report = try ConfigurationReport(
      configuration,
      programs: Programs.besideThisOne(),
      environment: ProcessEnvironment.values
    )
    if arguments.has("json") {
      try Terminal.json(report)
    } else {
      Terminal.out("the configuration is right")
      for folder in report.folders {
        Terminal.out(
          "\(folder.path): \(folder.files) files, \(folder.bytes) bytes; \(folder.copies)"
        )
      }
      for warning in report.warnings { Terminal.error("warning: \(warning)") }
    }
    return .done
  }

  /// What a changed configuration would do, without doing it.
  static let plan = Command(
    "plan",
    "",
    "what a changed configuration would do, without doing it",
    options: [Option("against", "FILE", "the changed configuration; else the file itself")],
    examples: ["handoff plan", "handoff plan --against new.toml"]
  ) { arguments in
    let changed: Configuration
    let file: Configuration
    if let other = arguments.path("against") {
      file = try ConfigurationFile.load(arguments)
      changed = try ConfigurationFile.load(at: ConfigurationFile.absolute(other))
    } else {
      changed = try ConfigurationFile.loadStrictly(arguments)
      file = changed
    }
    let loaded = LoadedConfiguration.last(in: StateFolder(file.broker.state))
    let current = try loaded.map { try $0.configuration() } ?? file
    let plan = try await ConfigurationPlan(from: current, to: changed)
    if arguments.has("json") {
      try Terminal.json(plan)
    } else {
      for line in plan.lines { Terminal.out(line) }
      if plan.lines.isEmpty { Terminal.out("nothing changes") }
      let warnings = try ConfigurationReport.warnings(
        changed,
        Programs.besideThisOne(),
        ProcessEnvironment.values
      )
      for warning in warnings { Terminal.error("warning: \(warning)") }
    }
    return .done
  }
}
