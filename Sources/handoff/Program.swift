import Glibc
import HandoffService
import LinuxSystem

/// The command line: finds the command, runs it, and turns how it ended into an exit code.
@main
enum Program {
  static func main() async {
    let arguments = RawArguments.ofThisProcess
    do {
      // Before any thread starts: a lease break or a stop signal must find nobody who dies of it.
      try SignalMask.blockAtStart()
      try await run(arguments).exit()
    } catch let failure as CommandFailure {
      Terminal.error(failure.message)
      failure.code.exit()
    } catch {
      Terminal.error("\(error)")
      ExitCode.failed.exit()
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
      Terminal.out(Help.overview)
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
