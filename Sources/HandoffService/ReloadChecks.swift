import Callbacks
import Glibc
import HandoffConfig
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// What a running broker refuses of a configuration that is right in itself; blocks.
struct ReloadChecks: Sendable {
  let old: Configuration
  let new: Configuration
  let programs: Programs
  let environment: [String: String]

  /// All of them, each at its key.
  var problems: [ConfigurationProblem] {
    restarts.map { new.problem("needs a restart: \($0.detail)", at: $0.key) } + folderProblems
      + destinationProblems + callbackProblems
  }

  // MARK: What cannot change

  /// One key that only a start of the broker can change.
  struct Restart: Sendable {
    /// As `broker.listen`.
    let key: String
    let detail: String
  }

  /// The keys that only a start can change, and how they differ.
  var restarts: [Restart] { Self.restarts(old, new) }

  static func restarts(_ old: Configuration, _ new: Configuration) -> [Restart] {
    func shown(_ path: BytePath?) -> String { path?.displayText ?? "none" }
    func shown(_ text: String?) -> String { text.map { BytePath($0).displayText } ?? "none" }
    func shown(_ age: Duration?) -> String { age.map(Quantities.text) ?? "keep" }
    let (before, after) = (old.broker, new.broker)
    let keys = [
      ("broker.state", shown(before.state), shown(after.state)),
      ("broker.listen", shown(before.listen?.description), shown(after.listen?.description)),
      ("broker.token_file", shown(before.tokenFile), shown(after.tokenFile)),
      ("broker.public_url", shown(before.publicURL), shown(after.publicURL)),
      (
        "broker.allowed_hosts", shown(before.allowedHosts.joined(separator: ", ")),
        shown(after.allowedHosts.joined(separator: ", "))
      ),
      ("broker.group", shown(before.group), shown(after.group)),
      ("broker.history", shown(before.history), shown(after.history)),
      ("broker.crash_limit", String(before.crashLimit), String(after.crashLimit)),
      ("library.path", shown(old.library.path), shown(new.library.path)),
    ]
    return keys.filter { $0.1 != $0.2 }.map {
      Restart(key: $0.0, detail: "\($0.1) becomes \($0.2)")
    }
  }

  // MARK: What has to be there

  /// A folder that is away at a start is waited for; one that a person writes down now is a slip.
  private var folderProblems: [ConfigurationProblem] {
    let known = Set(old.dropFolders.map(\.path))
    return new.dropFolders.enumerated().compactMap { index, folder in
      guard !known.contains(folder.path) else { return nil }
      return fault(ofFolder: folder.path).map {
        new.problem($0, at: "drop_folder[\(index)].path")
      }
    }
  }

  private func fault(ofFolder path: BytePath) -> String? {
    do {
      guard let status = try FileStatus.of(path, following: true) else {
        return "\(path.displayText) is not there; create it"
      }
      return status.kind == .directory ? nil : "\(path.displayText) is no folder"
    } catch {
      return "\(error)"
    }
  }

  private var destinationProblems: [ConfigurationProblem] {
    let searchPath = environment["PATH"] ?? CommandSearch.defaultPath
    return new.destinations.compactMap { destination in
      guard [.plugin, .exec, .url].contains(destination.transport),
        old.destination(destination.name)?.command != destination.command,
        let command = destination.command.first,
        CommandSearch.program(command, beside: programs.folder, searchPath: searchPath) == nil
      else { return nil }
      return new.problem(Self.missing(command), at: "destination.\(destination.name).command")
    }
  }

  private var callbackProblems: [ConfigurationProblem] {
    let host = CallbackHost(programs: programs.folder, environment: environment)
    let callbacks = new.callbacks.values.sorted { $0.id.text < $1.id.text }
    return callbacks.filter { old.callbacks[$0.id] != $0 }.compactMap { callback in
      let (command, key): ([String], String)
      switch callback.action {
      case .exec(let words): (command, key) = (words, "exec")
      case .open: (command, key) = (callback.command, "open")
      case .url, .file: return nil
      }
      guard host.program(of: command) == nil else { return nil }
      return new.problem(
        Self.missing(command.first ?? ""),
        at: "callback.\(callback.id).\(key)"
      )
    }
  }

  private static func missing(_ command: String) -> String {
    "the command \(BytePath(command).displayText) is not there or not executable"
  }
}
