import Glibc
import LinuxSystem
import Paths
import Synchronization

/// Runs a program that opens a URL in the desktop's session, and tells how that ended.
///
/// The opener gets the session's addresses and nothing that could be a secret, its standard streams are
/// `/dev/null` (a pipe of the broker's would end the opened program with SIGPIPE one day), and it runs in
/// a session of its own, which outlives both it and the broker: what it opens belongs to the user.
struct URLOpener: Sendable {
  /// How an opening ended.
  enum End: Hashable, Sendable {
    case exited(CInt)
    /// By a signal, or in a way that setsid(1) does not tell.
    case signalled
    /// It still ran after the time limit: it is itself what was opened, or waits for it.
    case stillRunning
    /// The broker stopped waiting.
    case abandoned
  }

  /// The program and its arguments, to which the URL is added.
  let command: [String]
  let host: ReceiverHost
  /// Further variables by name.
  let variables: [BytePath]
  /// Names of the broker's own variables that it gets besides.
  let passedOn: [String]

  /// How long an opener is waited for.
  static let timeLimit: Duration = .seconds(30)

  /// What a desktop session's programs find each other by.
  private static let sessionVariables = [
    "BROWSER", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "DISPLAY", "HOME", "LOGNAME", "TZ",
    "USER", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME",
    "XDG_CURRENT_DESKTOP", "XDG_DATA_DIRS", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_SESSION_TYPE",
  ]

  /// The program, or nil if it is not there or not executable.
  var program: BytePath? {
    CommandSearch.program(
      command.first ?? "",
      beside: host.programs,
      searchPath: host.searchPath
    )
  }

  /// Opens a URL.
  ///
  /// - Throws: ``SystemError`` where the opener could not be started: then nothing was opened.
  func open(_ url: String, with program: BytePath) async throws(SystemError) -> End {
    guard let setsid = CommandSearch.find("setsid", on: host.searchPath) else {
      throw SystemError(ENOENT, "setsid")
    }
    let words = command.dropFirst().map { BytePath($0) } + [BytePath(url)]
    // The process that is waited for only waits: its group ends with it, and the opener is not in it.
    var start = ProcessCommand(setsid, arguments: ["--fork", "--wait", program] + words)
    start.environment = environment
    start.workingDirectory = "/"
    return await end(of: try await SpawnedProcess.spawn(start))
  }

  private func end(of process: SpawnedProcess) async -> End {
    let early = Atomic(EarlyEnd.none)
    let limit = EventLoop.process.after(Self.timeLimit) {
      early.store(.late, ordering: .releasing)
      process.signalGroup(SIGKILL)
    }
    defer { limit.cancel() }
    let status = await withTaskCancellationHandler {
      await process.exit()
    } onCancel: {
      early.store(.cancelled, ordering: .releasing)
      process.signalGroup(SIGKILL)
    }
    switch (status, early.load(ordering: .acquiring)) {
    case (.exited(let code), _): return .exited(code)
    case (.signalled, .late): return .stillRunning
    case (.signalled, .cancelled): return .abandoned
    case (.signalled, .none): return .signalled
    }
  }

  private enum EarlyEnd: UInt8, AtomicRepresentable {
    case none
    case late
    case cancelled
  }

  private var environment: [BytePath] {
    var values: [String: String] = [:]
    for name in Self.sessionVariables + passedOn { values[name] = host.environment[name] }
    values["PATH"] = host.searchPath
    values["LANG"] = host.environment["LANG"] ?? "C.UTF-8"
    return values.sorted { $0.key < $1.key }.map { BytePath("\($0.key)=\($0.value)") } + variables
  }
}
