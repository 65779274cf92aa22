import Glibc
import LinuxSystem

// A receiver that misbehaves as its arguments say:
//   hostile-receiver exec|plugin|signals BEHAVIOUR [NAME=VALUE ...]
// The values tell it what to attack; see Attack.

let arguments = CommandLine.arguments
let behaviour = arguments.count > 2 ? arguments[2] : ""
let attack = Attack(arguments.dropFirst(3))

switch arguments.count > 1 ? arguments[1] : "" {
case "exec":
  try ExecSide(attack: attack).run(behaviour)
case "plugin":
  try PluginSide(attack: attack).run(behaviour)
case "signals":
  try await printSignals()
default:
  exit(64)
}

/// Prints each signal's number; for the test of ``SignalSequence``, which needs its own process.
func printSignals() async throws {
  try SignalMask.blockAtStart()
  let signals = try SignalSequence()
  let output = FileDescriptor(owning: 1)
  try output.write(Array("ready\n".utf8))
  for await signal in signals {
    try output.write(Array("\(signal)\n".utf8))
    if signal == SIGTERM { exit(0) }
  }
}
