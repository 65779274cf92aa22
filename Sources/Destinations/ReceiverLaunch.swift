import Glibc
package import HandoffCore
import HandoffLog
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
  private static let optionsNumber: CInt = 5

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
      let (optionsReading, optionsWriting) = try FileDescriptor.pipe()
      var command = try wrapped(program, arguments)
      if isContained {
        command.descriptors = [Self.statusNumber: writing, Self.optionsNumber: optionsReading]
      }
      command.environment = environment + extra
      command.descriptors.merge(descriptors) { own, _ in own }
      command.limits = [.coreSize(0), .openFiles(Self.openFiles)]
      command.isConfined = true
      let options = try isContained ? options(for: program) : []
      let process = try await SpawnedProcess.spawn(command)
      try writing.close()
      giveUpMemoryFirst(process)
      // Bubblewrap waits for its options, so whatever it starts has the limits already.
      // The reading end is closed after that: no SIGPIPE, however soon it ends.
      try optionsWriting.write(options)
      try optionsWriting.close()
      try optionsReading.close()
      return try ReceiverProcess(process, isContained: isContained, status: reading)
    } catch let error as SystemError {
      throw unavailable("\(error)")
    }
  }

  private static let openFiles: UInt64 = 4096

  /// On a machine that runs out of memory a receiver is ended, never the broker; see
  /// proc_pid_oom_score_adj(5).
  private func giveUpMemoryFirst(_ process: SpawnedProcess) {
    do {
      try FileDescriptor.open(BytePath("/proc/\(process.id)/oom_score_adj"), O_WRONLY)
        .write(Array("500".utf8))
    } catch {
      // It has ended already, or belongs to somebody else: then the kernel chooses by itself.
      host.logger.debug(
        "A receiver's memory ranks as the broker's own",
        [.destination: settings.name.text, .error: "\(error)"]
      )
    }
  }

  /// Why it cannot be started now, as far as its command tells; nil where it can.
  var fault: ResultError? {
    do {
      _ = try findProgram()
      return nil
    } catch {
      return error as? ResultError
    }
  }

  var isContained: Bool {
    guard case .bubblewrap = host.support else { return false }
    return settings.containment != .none
  }

  // MARK: The command

  func findProgram() throws -> BytePath {
    let name = settings.command.first ?? ""
    let found = CommandSearch.program(
      name,
      beside: host.programs,
      searchPath: host.searchPath
    )
    if let found {
      let start = ScriptStart(of: found, searchPath: host.searchPath)
      if let fault = start?.fault {
        throw unavailable("the command \(found.displayText) cannot be started: \(fault)")
      }
      return found
    }
    throw unavailable("the command \(BytePath(name).displayText) is not there or not executable")
  }

  private func wrapped(
    _ program: BytePath,
    _ arguments: [BytePath]
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
      return ProcessCommand(
        bubblewrap,
        arguments: ["--args", BytePath("\(Self.optionsNumber)"), "--", program] + arguments
      )
    }
  }

  /// The options of bubblewrap as it reads them from its descriptor: each ends with a zero byte.
  private func options(for program: BytePath) throws -> [UInt8] {
    let plan = try containment(for: program)
    if let interpreter = ScriptStart(of: program, searchPath: host.searchPath)?.interpreter,
      [.none, .hidden].contains(plan.sight(of: interpreter))
    {
      throw unavailable(
        "its containment does not show it \(interpreter.displayText), the interpreter of "
          + "\(program.displayText); add its folder to the destination's read"
      )
    }
    let options = plan.options(statusDescriptor: Self.statusNumber)
    let bytes = options.flatMap { Array($0.bytes) + [UInt8(0)] }
    // They are written while nobody reads yet.
    guard bytes.count <= Self.pipeCapacity else {
      throw unavailable("it may read and write so many folders that their names are too long")
    }
    return bytes
  }

  private static let pipeCapacity = 65_536

  /// What containment has to do with a failure, as the receiver's own words tell it; nil where they
  /// tell of none, or it is not contained.
  func denial(in words: String) -> ContainmentDenial? {
    guard isContained else { return nil }
    do {
      return ContainmentDenial.find(in: words, under: try containment(for: try findProgram()))
    } catch {
      // The program or a folder has gone meanwhile: then that is what the failure is about.
      return nil
    }
  }

  func containment(for program: BytePath) throws -> Containment {
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
        error.errno == ENOENT
          ? "\(path.displayText) in its \(use) is not there: create it, mount it, or take it out"
          : "\(path.displayText) in its \(use) cannot be shown: \(error.reason)"
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
