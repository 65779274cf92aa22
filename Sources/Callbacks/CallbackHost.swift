import LinuxSystem
package import Paths

/// What the machine and the broker have to do with every callback.
package struct CallbackHost: Sendable {
  /// The folder of the running `handoff`, in which programs are looked for first.
  package var programs: BytePath
  /// The broker's own environment, of which a callback's program gets a few names.
  package var environment: [String: String]
  /// What `User-Agent` says.
  package var agent = "handoff"
  /// How long a program may take; after it its process group is ended.
  package var timeLimit: Duration = .seconds(30)
  /// The time from SIGTERM to SIGKILL.
  package var grace: Duration = .seconds(2)

  /// What a desktop notification or a mail program needs; nothing that could be a secret.
  private static let passedOn = [
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "LOGNAME", "TZ", "USER", "WAYLAND_DISPLAY",
    "XDG_RUNTIME_DIR",
  ]

  package init(programs: BytePath, environment: [String: String]) {
    self.programs = programs
    self.environment = environment
  }

  /// The program of a command, or nil if it is not there or not executable.
  package func program(of command: [String]) -> BytePath? {
    CommandSearch.program(command.first ?? "", beside: programs, searchPath: searchPath)
  }

  /// The whole environment of a callback's program.
  func variables(_ callback: String) -> [BytePath] {
    var values: [String: String] = [:]
    for name in Self.passedOn { values[name] = environment[name] }
    values["PATH"] = searchPath
    values["LANG"] = environment["LANG"] ?? "C.UTF-8"
    values["HANDOFF_CALLBACK"] = callback
    return values.sorted { $0.key < $1.key }.map { BytePath("\($0.key)=\($0.value)") }
  }

  private var searchPath: String { environment["PATH"] ?? CommandSearch.defaultPath }
}
