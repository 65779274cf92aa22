package import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// How one destination's receiver is started: the command, what it is shown, its environment.
package struct ReceiverLaunch: Sendable {
  let settings: DestinationSettings
  let host: ReceiverHost
  let folders: ReceiverFolders

  /// The message socket's number in the receiver.
  static let socketNumber: CInt = 3
  private static let statusNumber: CInt = 4

  package init(settings: DestinationSettings, host: ReceiverHost, folders: ReceiverFolders) {
    self.settings = settings
    self.host = host
    self.folders = folders
  }

  /// How the receiver is contained, for people: `bubblewrap`, or `none` and why.
  package var containment: String {
    settings.containment == .none ? "none: configured so" : host.support.description
  }

  /// Starts the receiver with its descriptors by number.
  ///
  /// Throws ``ResultError`` with effect none: nothing has been handed over yet.
  func start(
    descriptors: [CInt: FileDescriptor],
    environment extra: [BytePath]
  ) async throws -> ReceiverProcess {
    let program = try findProgram()
    let arguments = settings.command.dropFirst().map { BytePath($0) }
    do {
      let (reading, writing) = try FileDescriptor.pipe()
      var command = try wrapped(program, arguments, status: writing)
      command.environment = environment + extra
      command.descriptors.merge(descriptors) { own, _ in own }
      command.limits = [.coreSize(0), .openFiles(4096)]
      let process = try await SpawnedProcess.spawn(command)
      try writing.close()
      return try ReceiverProcess(process, isContained: isContained, status: reading)
    } catch let error as SystemError {
      throw unavailable("\(error)")
    }
  }

  private var isContained: Bool {
    guard case .bubblewrap = host.support else { return false }
    return settings.containment != .none
  }

  // MARK: The command

  private func findProgram() throws -> BytePath {
    let name = settings.command.first ?? ""
    let found = CommandSearch.program(
      name,
      beside: host.programs,
      searchPath: host.searchPath
    )
    if let found { return found }
    throw unavailable("the command \(BytePath(name).displayText) is not there or not executable")
  }

  private func wrapped(
    _ program: BytePath,
    _ arguments: [BytePath],
    status: FileDescriptor
  ) throws -> ProcessCommand {
    switch (settings.containment, host.support) {
    case (.require, .none(let reason)):
      throw ResultError(
        .destinationUnavailable,
        "containment is required, and there is none: \(reason)",
        effect: .none,
        retry: .afterFix,
        remedy: "make user namespaces and bubblewrap available, or set containment = \"prefer\""
      )
    case (.none, _), (.prefer, .none):
      var command = ProcessCommand(program, arguments: arguments)
      command.workingDirectory = folders.work
      return command
    case (.require, .bubblewrap(let bubblewrap)), (.prefer, .bubblewrap(let bubblewrap)):
      let plan = try containment(for: program)
      var command = ProcessCommand(
        bubblewrap,
        arguments: plan.arguments(
          command: [program] + arguments,
          statusDescriptor: Self.statusNumber
        )
      )
      command.descriptors[Self.statusNumber] = status
      return command
    }
  }

  private func containment(for program: BytePath) throws -> Containment {
    var bindings = try settings.read.map { try binding($0, isWritable: false) }
    bindings.append(try binding(folders.grants, isWritable: false))
    if !host.system.shows(program) { bindings.append(try binding(program, isWritable: false)) }
    bindings.append(try binding(folders.work, isWritable: true))
    bindings += try settings.write.map { try binding($0, isWritable: true) }
    return Containment(
      system: host.system,
      bindings: bindings,
      hidden: try host.hidden.map { path throws(SystemError) in try Directory.canonical(path) },
      hasNetwork: settings.network,
      workingDirectory: folders.work
    )
  }

  private func binding(_ path: BytePath, isWritable: Bool) throws -> Containment.Binding {
    do {
      let source = try Directory.canonical(path)
      return Containment.Binding(source: source, place: path, isWritable: isWritable)
    } catch {
      let use = isWritable ? "write" : "read"
      throw unavailable(
        "\(path.displayText), which it may \(use), cannot be shown: \(error.reason)"
      )
    }
  }

  private func unavailable(_ message: String) -> ResultError {
    ResultError(.destinationUnavailable, message, effect: .none, retry: .later)
  }

  // MARK: The environment

  private var environment: [BytePath] {
    var values: [String: BytePath] = [:]
    for name in settings.env {
      if let value = host.environment[name] { values[name] = BytePath(value) }
    }
    values["PATH"] = BytePath(host.searchPath)
    values["HOME"] = folders.work
    values["LANG"] = BytePath(host.environment["LANG"] ?? "C.UTF-8")
    values["TZ"] = host.environment["TZ"].map { BytePath($0) }
    values["TMPDIR"] = "/tmp"
    values["HANDOFF_WORK"] = folders.work
    values["HANDOFF_DESTINATION"] = BytePath(settings.name.text)
    return values.sorted { $0.key < $1.key }.map { name, value in
      BytePath(Array("\(name)=".utf8) + value.bytes)
    }
  }
}
