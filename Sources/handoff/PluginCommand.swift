import Conformance
import Glibc
import HandoffConfig
import HandoffCore
import HandoffProtocol
import HandoffService
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
      Option("video", "FILE", "hand this off instead of the kit's video, which lasts one second"),
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
      video: try await PluginTest.video(arguments),
      limits: limits
    )
    let signals = try SignalSequence()
    let watcher = Task {
      for await number in signals { PluginTest.breakOff(kit, number) }
    }
    defer { watcher.cancel() }
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
  /// Leaves nothing behind, and ends with the code that a shell gives for the signal.
  static func breakOff(_ kit: Conformance, _ number: CInt) -> Never {
    do {
      try kit.abandon()
    } catch {
      Terminal.error("handoff plugin: \(error)")
    }
    // Not raise(3): the threads of the pool block signals.
    Glibc.exit(128 + number)
  }

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
    // As a configuration finds it: beside this program, then on the path.
    let other = CommandSearch.program(
      name.lossyText,
      beside: try Programs.besideThisOne().folder,
      searchPath: environmentValue("PATH") ?? CommandSearch.defaultPath
    )
    if isBare, let other { return other }
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

  static func video(_ arguments: ParsedArguments) async throws -> GivenVideo? {
    guard let given = arguments.path("video") else { return nil }
    let file = ConfigurationFile.absolute(given)
    do {
      let verdict = try await Programs.besideThisOne().verdict(of: file)
      guard let facts = verdict.facts else {
        let reason = verdict.reason ?? verdict.judgement.rawValue
        throw CommandFailure(.usage, "handoff plugin: \(given.displayText): \(reason)")
      }
      return try GivenVideo(
        file,
        facts: GivenVideo.Facts(
          container: facts.container,
          codec: facts.videoCodec,
          width: facts.width,
          height: facts.height,
          duration: facts.duration
        )
      )
    } catch let error as SystemError {
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
