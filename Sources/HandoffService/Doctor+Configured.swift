import Destinations
import Glibc
import HandoffConfig
import HandoffControl
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// What the configuration names and the machine must have.
extension Doctor {
  var folderLines: [DoctorReport.Line] {
    configuration.dropFolders.map { folder in
      let shown = folder.path.displayText
      if access(folder.path.nulTerminated, R_OK | X_OK) == 0 {
        return .ok("\(shown) can be listed")
      }
      return errno == ENOENT
        ? .problem("\(shown) is not there", mend: "create it, or mount it")
        : .problem(
          "\(shown) cannot be listed: \(SystemError.last("access").reason)",
          mend: "let the broker's user read it"
        )
    }
  }

  var libraryLines: [DoctorReport.Line] {
    get async throws {
      let root = configuration.library.path
      let file = root.appending("library.json")
      if try FileStatus.of(file) == nil {
        let queries = try await LedgerQueries.open(configuration)
        return try await queries.assets().isEmpty
          ? [.ok("there is none yet; the first start makes it")]
          : [.problem("\(file.displayText) is not there", mend: "mount the library's disk")]
      }
      guard access(file.nulTerminated, R_OK) == 0, access(root.nulTerminated, W_OK) == 0 else {
        let reason = SystemError.last("access").reason
        return [.problem("\(root.displayText) cannot be used: \(reason)", mend: Self.otherUser)]
      }
      return [.ok("\(root.displayText) can be used")]
    }
  }

  var programLines: [DoctorReport.Line] {
    get throws {
      var lines: [DoctorReport.Line] = []
      for destination in configuration.destinations {
        if let command = destination.command.first {
          lines.append(line(for: command, of: "destination \(destination.name)"))
        }
        for folder in destination.read + destination.write
        where try FileStatus.of(folder, following: true) == nil {
          lines.append(
            .problem(
              "destination \(destination.name): \(folder.displayText) is not there",
              mend: "create it, or take it out of read and write"
            )
          )
        }
      }
      for callback in configuration.callbacks.values.sorted(by: { $0.id.text < $1.id.text }) {
        guard case .exec(let words) = callback.action, let command = words.first else { continue }
        lines.append(line(for: command, of: "callback \(callback.id)"))
      }
      return lines
    }
  }

  /// What is open for a destination that was taken out of the configuration goes nowhere.
  var destinationLines: [DoctorReport.Line] {
    get async throws {
      let open = try await LedgerQueries.open(configuration).openHandoffs()
      let stuck = Dictionary(
        grouping: open.filter { $0.waiting?.reason == .destinationUnknown },
        by: \.destination
      )
      guard !stuck.isEmpty else { return [.ok("every open handoff's destination is configured")] }
      return stuck.sorted { $0.key.text < $1.key.text }.map { name, handoffs in
        let shown = handoffs.prefix(5).map(\.id).joined(separator: ", ")
        let more = handoffs.count > 5 ? " and \(handoffs.count - 5) more" : ""
        return .problem(
          "\(shown)\(more): destination \(name) is not configured any more",
          mend: "configure \(name) again, or `handoff cancel` them"
        )
      }
    }
  }

  private func line(for command: String, of user: String) -> DoctorReport.Line {
    let found = CommandSearch.program(command, beside: programs.folder, searchPath: searchPath)
    if let found {
      guard let fault = ScriptStart(of: found, searchPath: searchPath)?.fault else {
        return .ok("\(user) runs \(found.displayText)")
      }
      return .problem(
        "\(user): \(found.displayText) cannot be started: \(fault)",
        mend: "correct the script's first line, or install what it names"
      )
    }
    return .problem(
      "\(user): the command \(BytePath(command).displayText) is not there or not executable",
      mend: "install it, or name it by its absolute path"
    )
  }

  /// Never a secret itself: only whether it is there, and whether others can read it.
  var secretLines: [DoctorReport.Line] {
    get throws {
      var lines: [DoctorReport.Line] = []
      for destination in configuration.destinations {
        let user = "destination \(destination.name)"
        if let secret = destination.secret { lines.append(try line(for: secret, of: user)) }
        for name in destination.env where environment[name] == nil {
          lines.append(missing(name, of: user))
        }
      }
      for callback in configuration.callbacks.values.sorted(by: { $0.id.text < $1.id.text }) {
        guard let secret = callback.secret else { continue }
        lines.append(try line(for: secret, of: "callback \(callback.id)"))
      }
      return lines
    }
  }

  private func line(
    for secret: SecretReference,
    of user: String
  ) throws -> DoctorReport.Line {
    switch secret {
    case .env(let name):
      return environment[name]?.isEmpty == false
        ? .ok("\(user): \(name) is set") : missing(name, of: user)
    case .credential(let name):
      guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        return .warning(
          "\(user): the credential \(name) cannot be looked at here",
          mend: "systemd gives credentials only to the broker's unit (LoadCredential=\(name):FILE)"
        )
      }
      return try line(for: .file(BytePath(folder).appending(BytePath(name))), of: user)
    case .file(let path):
      guard let status = try FileStatus.of(path, following: true), status.size > 0 else {
        return .problem("\(user): \(path.displayText) is not there or empty", mend: "write it")
      }
      if status.permissions & 0o077 != 0 {
        return .warning(
          "\(user): others than its owner can read \(path.displayText)",
          mend: "chmod 600 it, with the broker's user as its owner"
        )
      }
      return .ok("\(user): \(path.displayText) is there")
    }
  }

  /// The broker's environment is another one where systemd starts it.
  private func missing(_ name: String, of user: String) -> DoctorReport.Line {
    .warning(
      "\(user): the environment variable \(name) is not set here",
      mend: "set it where the broker is started (systemd: Environment= or EnvironmentFile=)"
    )
  }

  var addressLines: [DoctorReport.Line] {
    get throws {
      guard let address = configuration.broker.listen else { return [.ok("listen = \"\": none")] }
      let file = StateFolder(configuration.broker.state).path.appending("api-address")
      guard broker != nil, try FileStatus.of(file) != nil else {
        return broker == nil
          ? [.ok("to be at \(address)")]
          : [
            .warning(
              "\(address) is not listened on",
              mend: "free the address, or set another listen"
            )
          ]
      }
      let bytes = try FileDescriptor.open(file, O_RDONLY).readAll(limit: 4096)
      let text = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first ?? ""
      return [.ok("at \(BytePath(String(text)).displayText)")]
    }
  }
}
