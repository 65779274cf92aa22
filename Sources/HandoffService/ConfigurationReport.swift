import Callbacks
import Destinations
package import HandoffConfig
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// What `handoff check` says of a right configuration: how many full copies of a video it keeps, and what
/// a first start would find.
package struct ConfigurationReport: Encodable, Sendable {
  package struct Folder: Encodable, Sendable {
    package let path: String
    /// Regular files at any depth that are no ignored name.
    package let files: Int
    package let bytes: Int64
    /// Full copies of each video once all its handoffs are done.
    package let fullCopies: Int
    /// The same in words.
    package let copies: String

    private enum CodingKeys: String, CodingKey {
      case path
      case files
      case bytes
      case fullCopies = "full_copies"
      case copies
    }
  }

  package let folders: [Folder]
  package let warnings: [String]

  /// - Parameters:
  ///   - configuration: decoded without problems.
  ///   - programs: where plugins are looked for first.
  ///   - environment: of which destinations get what they name.
  /// - Throws: ``SystemError`` where a folder cannot be looked at.
  package init(
    _ configuration: Configuration,
    programs: Programs,
    environment: [String: String]
  ) throws {
    var warnings: [String] = []
    var folders: [Folder] = []
    for settings in configuration.dropFolders {
      let found = FolderCensus(settings)
      warnings += found.problems
      let copies = Self.copies(settings, configuration)
      let proxies = Self.proxies(settings, configuration)
      let besides =
        proxies.isEmpty ? "" : "; a smaller proxy besides: \(proxies.joined(separator: ", "))"
      folders.append(
        Folder(
          path: settings.path.lossyText,
          files: found.files,
          bytes: found.bytes,
          fullCopies: copies.count,
          copies: copies.count == 1
            ? "1 full copy of each video: \(copies[0])\(besides)"
            : "\(copies.count) full copies of each video: \(copies.joined(separator: ", "))\(besides)"
        )
      )
    }
    self.folders = folders
    self.warnings = warnings + (try Self.warnings(configuration, programs, environment))
  }

  /// What the file says rightly and the machine does not have yet.
  package static func warnings(
    _ configuration: Configuration,
    _ programs: Programs,
    _ environment: [String: String]
  ) throws -> [String] {
    let searchPath = environment["PATH"] ?? CommandSearch.defaultPath
    var warnings: [String] = []
    for destination in configuration.destinations {
      let name = "destination \(destination.name)"
      let command = destination.command.first ?? ""
      if [.plugin, .exec, .url].contains(destination.transport),
        CommandSearch.program(command, beside: programs.folder, searchPath: searchPath) == nil
      {
        let shown = BytePath(command).displayText
        warnings.append("\(name): the command \(shown) is not there or not executable")
      }
      if let folder = destination.inbox?.parent, try FileStatus.of(folder, following: true) == nil {
        warnings.append("\(name): \(folder.displayText) is not there; create it")
      }
      for folder in destination.read + destination.write
      where try FileStatus.of(folder, following: true) == nil {
        let shown = folder.displayText
        warnings.append("\(name): \(shown) in its read or write is not there; create or mount it")
      }
      if destination.transport == .http, configuration.broker.listen == nil {
        warnings.append("\(name): its receiver can read no asset, as [broker] listen is empty")
      }
      if let rendition = destination.rendition,
        !destination.after.contains(where: { configuration.destination($0)?.transport == .plugin })
      {
        // Only plugins can register one.
        warnings.append(
          "\(name): use = \"\(rendition)\", and it waits for no plugin (after) that could make "
            + "it: only assets that have the rendition already can be handed off"
        )
      }
      for variable in destination.env where environment[variable] == nil {
        warnings.append("\(name): the environment variable \(variable) is not set")
      }
    }
    let host = CallbackHost(programs: programs.folder, environment: environment)
    for callback in configuration.callbacks.values.sorted(by: { $0.id.text < $1.id.text }) {
      if case .open = callback.action, callback.secret != nil {
        warnings.append(
          "callback \(callback.id): its secret is not used: an opened URL is not signed"
        )
      }
      switch callback.action {
      case .exec(let command) where host.program(of: command) == nil:
        let shown = BytePath(command.first ?? "").displayText
        warnings.append(
          "callback \(callback.id): the command \(shown) is not there or not executable"
        )
      case .file(let path) where try FileStatus.of(path.parent, following: true) == nil:
        let shown = path.parent.displayText
        warnings.append("callback \(callback.id): \(shown) is not there; create it")
      case .open where host.program(of: callback.command) == nil:
        let shown = BytePath(callback.command.first ?? "").displayText
        warnings.append(
          "callback \(callback.id): the command \(shown) is not there or not executable"
        )
      case .exec, .file, .url, .open: break
      }
    }
    return warnings + Secrets(of: configuration, environment: environment).warnings
  }

  /// Where a full copy stays.
  ///
  /// Only the archive plugin and an inbox are known to keep one; other receivers are their own.
  private static func copies(
    _ settings: DropFolderSettings,
    _ configuration: Configuration
  ) -> [String] {
    let archives = configuration.destinations.filter { destination in
      (settings.handoff + settings.syncPublishTo).contains(destination.name)
        && destination.rendition == nil
        && (destination.transport == .file
          || destination.command.first.map { BytePath($0).lastComponent } == "handoff-archive")
    }
    let original = settings.original == .remove ? [] : ["original"]
    return original + ["library"]
      + archives.map { archive in
        let remote = archive.settings["remote"]?.text.map { " (\(BytePath($0).displayText))" }
        return "destination \(archive.name)\(remote ?? "")"
      }
  }

  /// Where a copy stays that is smaller than the video: what the preview plugin makes, and archives of it.
  private static func proxies(
    _ settings: DropFolderSettings,
    _ configuration: Configuration
  ) -> [String] {
    let chosen = configuration.destinations.filter {
      (settings.handoff + settings.syncPublishTo).contains($0.name)
    }
    let makers = chosen.filter { destination in
      destination.command.first.map { BytePath($0).lastComponent } == "handoff-preview"
        && destination.settings["proxy"] != .bool(false)
    }
    guard !makers.isEmpty else { return [] }
    let keepers = chosen.filter { destination in
      destination.rendition?.text == "proxy"
        && (destination.transport == .file
          || destination.command.first.map { BytePath($0).lastComponent } == "handoff-archive")
    }
    return ["library"] + (makers + keepers).map { "destination \($0.name)" }
  }
}

/// Counts what a drop folder holds, without opening any file.
struct FolderCensus {
  private(set) var files = 0
  private(set) var bytes: Int64 = 0
  private(set) var problems: [String] = []
  private let names: TemporaryNames

  init(_ settings: DropFolderSettings) {
    names = TemporaryNames(settings)
    count(settings.path, recursive: settings.recursive)
  }

  private mutating func count(_ folder: BytePath, recursive: Bool) {
    do {
      for entry in try Directory.entries(of: folder) {
        let path = folder.appending(entry.name)
        switch entry.kind {
        case .directory where recursive && names.reason(forFolder: entry.name) == nil:
          count(path, recursive: true)
        case .regular where names.reason(for: entry.name) == nil:
          files += 1
          bytes += try FileStatus.of(path)?.size ?? 0
        case .directory, .regular, .symbolicLink, .other: break
        }
      }
    } catch {
      problems.append("\(error)")
    }
  }
}
