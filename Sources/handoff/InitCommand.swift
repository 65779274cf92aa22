import Glibc
import HandoffConfig
import HandoffCore
import LinuxSystem
import Paths

extension Command {
  /// Writes a commented configuration and the folders it names.
  static let initialise = Command(
    "init",
    "[DIR]",
    "write a commented configuration and its folders, ready to serve",
    examples: ["handoff init ~/handoff"]
  ) { arguments in
    let folder = ConfigurationFile.absolute(arguments.operands.first ?? ".")
    let file = folder.appending("handoff.toml")
    guard access(file.nulTerminated, F_OK) != 0 else {
      throw CommandFailure(.refused, "handoff init: \(file.displayText) is there already")
    }
    for name in ["", "exports", "archive", "preview"] {
      try Directory.create(folder.appending(name), permissions: 0o755)
    }
    try DurableFile.write(Array(SampleConfiguration.text.utf8), to: file, permissions: 0o644)
    let configuration = try ConfigurationFile.load(at: file)
    if arguments.has("json") {
      try Terminal.json(["config": file.lossyText])
    } else {
      let shown = file.displayText
      Terminal.error("wrote \(shown)")
      for folder in configuration.dropFolders {
        Terminal.error("drop finished videos into \(folder.path.displayText)")
      }
      Terminal.error("start with: handoff serve --config \(shown)")
    }
    return .done
  }
}
