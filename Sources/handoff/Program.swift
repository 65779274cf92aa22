import Glibc
import HandoffService
import LinuxSystem
import Paths

/// The command line: finds the command, runs it, and turns how it ended into an exit code.
@main
enum Program {
  static func main() async {
    do {
      // Before anything else: from here on, signals are read and interrupt nobody.
      try SignalMask.blockAtStart()
      // It asks a broker to reload, and must end none that has not come so far.
      if RawArguments.ofThisProcess.command == "serve" { try SignalMask.ignoreHangup() }
      try await run(.ofThisProcess).exit()
    } catch let failure as CommandFailure {
      Terminal.error(failure.message)
      failure.code.exit()
    } catch let error as ServiceError {
      Terminal.error("handoff: \(error.message)")
      exitCode(error).exit()
    } catch {
      Terminal.error("handoff: \(error)")
      ExitCode.failed.exit()
    }
  }

  private static func exitCode(_ error: ServiceError) -> ExitCode {
    switch error.code {
    case .alreadyRunning, .libraryInUse: .unavailable
    case .noSecret: .usage
    case .ledgerLost, .ledgerOld: .failed
    }
  }

  private static func run(_ arguments: RawArguments) async throws -> ExitCode {
    guard let name = arguments.command else {
      Terminal.error(Help.overview)
      return .usage
    }
    switch name {
    case "--version", "version":
      Terminal.out("handoff \(Version.text)")
      return .done
    case "--help", "-h", "help":
      let named = arguments.rest.first?.lossyText
      let command = Commands.all.first { $0.name == named }
      Terminal.out(command.map(Help.text) ?? Help.overview)
      return .done
    default:
      break
    }
    guard let command = Commands.all.first(where: { $0.name == name }) else {
      throw CommandFailure(.usage, Help.unknownCommand(name))
    }
    let parsed = try command.parse(arguments.rest)
    if parsed.has("help") {
      Terminal.out(Help.text(of: command))
      return .done
    }
    return try await command.run(parsed)
  }
}
