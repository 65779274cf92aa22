import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

typealias PluginProcess = PluginUnderTest

/// Runs a program to its end.
func runProgram(
  _ executable: BytePath,
  _ arguments: [BytePath],
  in folder: BytePath? = nil,
  output: BytePath? = nil
) async throws -> LinuxSystem.ExitStatus {
  var command = ProcessCommand(executable, arguments: arguments, environment: ["LC_ALL=C"])
  command.workingDirectory = folder
  if let output {
    let file = try FileDescriptor.open(output, O_WRONLY | O_CREAT | O_TRUNC)
    command.descriptors = [1: file, 2: file]
  }
  return await (try SpawnedProcess.spawn(command)).exit()
}

/// One handoff with a token of its own.
func handoff(
  _ id: String,
  _ identifiers: [LocalIdentifier],
  title: String? = nil,
  attempt: Int = 1,
  metadata: JSONValue? = nil
) -> SubmitParameters {
  submission(id, identifiers, title: title, attempt: attempt, metadata: metadata)
}
