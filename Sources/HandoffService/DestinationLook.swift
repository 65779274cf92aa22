import Destinations
import Glibc
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// Looks at destinations without handing anything off: their credentials, whether their services are
/// reached, their limits.
struct DestinationLook: Sendable {
  /// How receivers are started here.
  let host: ReceiverHost

  /// How long one destination may take; its `idle` where that is shorter.
  static let patience: Duration = .seconds(20)

  /// What is right and wrong with each, all of them looked at at once.
  ///
  /// - Parameters:
  ///   - destinations: which.
  ///   - plugin: looks at one of transport `plugin`.
  /// - Returns: the lines in the order of the destinations, each with its destination's name.
  func lines(
    of destinations: [DestinationSettings],
    plugin: @escaping @Sendable (DestinationSettings) async -> [DoctorReport.Line]
  ) async -> [DoctorReport.Line] {
    await withTaskGroup(of: (Int, [DoctorReport.Line]).self) { group in
      for (number, settings) in destinations.enumerated() {
        group.addTask {
          let found =
            switch settings.transport {
            case .plugin: await plugin(settings)
            case .exec: exec(settings)
            case .http: await http(settings)
            case .url: opener(settings)
            case .file: inbox(settings)
            }
          return (number, found.map { named($0, settings.name) })
        }
      }
      var lines = destinations.map { _ in [DoctorReport.Line]() }
      for await (number, found) in group { lines[number] = found }
      return lines.flatMap(\.self)
    }
  }

  private func named(_ line: DoctorReport.Line, _ name: DestinationName) -> DoctorReport.Line {
    var line = line
    line.destination = name
    line.text = "\(name): \(line.text)"
    return line
  }

  // MARK: Plugins

  /// Asks a running plugin what it says of itself.
  func ask(
    _ process: PluginProcess,
    _ introduction: PluginIntroduction,
    _ settings: DestinationSettings
  ) async -> [DoctorReport.Line] {
    let who = "\(introduction.discovery.name) \(introduction.discovery.version)"
    let answer: StatusAnswer?
    do {
      answer = try await process.status(
        checks: true,
        within: min(Self.patience, settings.idle)
      )
    } catch let error as ResultError {
      return [
        .problem(
          "\(who) does not say how it is: \(error.message)",
          mend: "look at what it logs, and at its own documentation"
        )
      ]
    } catch {
      return [.warning("it could not be asked: \(error)", mend: Doctor.otherUser)]
    }
    var lines: [DoctorReport.Line] = []
    let checks = answer?.checks ?? []
    if checks.isEmpty {
      lines.append(.ok("\(who) answers; it says nothing of credentials"))
    } else {
      lines += checks.map(Self.line)
    }
    // What a check has said already is not said twice.
    if answer?.status == .down, checks.allSatisfy(\.passed) {
      lines.append(
        .problem(
          "it cannot take handoffs now: \(answer?.reason ?? "it gives no reason")",
          mend: "mend what it says; handoffs wait meanwhile"
        )
      )
    }
    lines += unknownSettings(settings, introduction, who)
    let limits = settings.constraints(of: introduction).shown
    if !limits.isEmpty { lines.append(.ok("it takes: \(limits)")) }
    return lines
  }

  /// What stands in its settings and not in its schema of them is not read: a misspelt word is seen nowhere else.
  private func unknownSettings(
    _ settings: DestinationSettings,
    _ introduction: PluginIntroduction,
    _ who: String
  ) -> [DoctorReport.Line] {
    guard let schema = introduction.discovery.settingsSchema,
      case .object(let known)? = schema["properties"], !known.isEmpty,
      schema["additionalProperties"] != .bool(true), case .object(let given) = settings.settings
    else { return [] }
    return given.keys.filter { known[$0] == nil }.sorted().map { name in
      .warning(
        "settings.\(name) is no setting of \(who)",
        mend: "correct it, or take it out; it has \(known.keys.sorted().joined(separator: ", "))"
      )
    }
  }

  private static func line(_ check: DestinationCheck) -> DoctorReport.Line {
    let text = "\(check.name): \(check.detail)"
    return check.passed
      ? .ok(text) : .problem(text, mend: check.remedy ?? "see the destination's own documentation")
  }

  // MARK: The other transports

  private func exec(_ settings: DestinationSettings) -> [DoctorReport.Line] {
    let program = program(settings)
    return [
      program.found.map { .ok("program: \($0.displayText) is there; it was not run") }
        ?? program.missing
    ]
  }

  private func opener(_ settings: DestinationSettings) -> [DoctorReport.Line] {
    let program = program(settings)
    return [
      program.found.map {
        .ok("opener: \($0.displayText) is there; whether an app takes the URLs, only it knows")
      } ?? program.missing
    ]
  }

  private func program(
    _ settings: DestinationSettings
  ) -> (found: BytePath?, missing: DoctorReport.Line) {
    let name = settings.command.first ?? ""
    let missing = DoctorReport.Line.problem(
      "program: the command \(BytePath(name).displayText) is not there or not executable",
      mend: "install it, or name it by its absolute path"
    )
    let found = CommandSearch.program(name, beside: host.programs, searchPath: host.searchPath)
    return (found, missing)
  }

  private func inbox(_ settings: DestinationSettings) -> [DoctorReport.Line] {
    let inbox = settings.inbox ?? ""
    if access(inbox.nulTerminated, W_OK | X_OK) == 0 {
      return [.ok("folder: \(inbox.displayText) can be written")]
    }
    let reason = SystemError.last("access").reason
    return [
      .problem(
        "folder: \(inbox.displayText) cannot be written: \(reason)",
        mend: "create it, mount it, or let the broker's user write it"
      )
    ]
  }

  private func http(_ settings: DestinationSettings) async -> [DoctorReport.Line] {
    var lines: [DoctorReport.Line] = []
    for reference in [settings.secret, settings.oldSecret].compactMap(\.self) {
      do throws(SecretReading.Fault) {
        let warning = try SecretReading(environment: host.environment).read(reference).warning
        lines.append(
          warning.map { .warning("secret: \($0)", mend: "let only the broker's user read it") }
            ?? .ok("secret: it is there; whether it is the right one, only a handoff can tell")
        )
      } catch {
        lines.append(.problem("secret: \(error)", mend: "give the broker the secret it names"))
      }
    }
    let url = settings.url ?? ""
    do {
      let fault = try await ConnectionTrial(url).fault(within: .seconds(10))
      lines.append(
        fault.map {
          .problem("reachable: no connection: \($0)", mend: "start the service, or correct url")
        } ?? .ok("reachable: a connection was made, and nothing sent")
      )
    } catch {
      lines.append(.warning("reachable: it could not be tried: \(error)", mend: Doctor.otherUser))
    }
    return lines
  }
}
