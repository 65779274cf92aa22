import Glibc
import HandoffConfig
import HandoffService
import LinuxSystem
import Paths

/// Finds, reads and decodes the configuration.
enum ConfigurationFile {
  /// `--config`, else `HANDOFF_CONFIG`, else `./handoff.toml`, else the user's, else the system's.
  static func locate(_ arguments: ParsedArguments) throws -> BytePath {
    if let given = arguments.path("config") { return absolute(given) }
    if let given = environmentValue("HANDOFF_CONFIG") { return absolute(BytePath(given)) }
    let home =
      environmentValue("XDG_CONFIG_HOME").map { BytePath($0) }
      ?? environmentValue("HOME").map { BytePath($0).appending(".config") }
    let places = [
      absolute("handoff.toml"), home?.appending("handoff/handoff.toml"),
      "/etc/handoff/handoff.toml",
    ].compactMap(\.self)
    if let found = places.first(where: { access($0.nulTerminated, F_OK) == 0 }) { return found }
    throw CommandFailure(
      .usage,
      "no configuration at \(places.map(\.displayText).joined(separator: ", ")); "
        + "`handoff init` writes one, --config names one"
    )
  }

  /// The decoded configuration; where the file is none any more, that which its broker has loaded last.
  ///
  /// Every problem is printed before the command fails, or goes on with what it has.
  ///
  /// - Parameters:
  ///   - arguments: which file, if they say so.
  ///   - quietly: print nothing where the command goes on: the broker itself tells what is wrong.
  /// - Returns: what to go by.
  /// - Throws: ``CommandFailure`` with every problem.
  static func load(
    _ arguments: ParsedArguments,
    quietly: Bool = false
  ) throws -> Configuration {
    let file = try locate(arguments)
    do {
      return try load(at: file)
    } catch let failure as CommandFailure {
      guard let loaded = LoadedConfiguration.last(ofBroken: file) else { throw failure }
      if quietly { return loaded }
      Terminal.error(failure.message)
      Terminal.error("warning: what the broker has loaded last is used instead of this file")
      return loaded
    }
  }

  /// What is said of the file as it is now, even where a broker goes by what it was.
  static func loadStrictly(_ arguments: ParsedArguments) throws -> Configuration {
    try load(at: locate(arguments))
  }

  static func load(at path: BytePath) throws -> Configuration {
    do {
      return try ConfigurationSource.load(at: path)
    } catch {
      throw CommandFailure(.usage, error.problems.map(\.description).joined(separator: "\n"))
    }
  }

  /// A path given on the command line, relative to the working directory, without `.`, `..` and empty
  /// parts where the folder that holds it is there.
  static func absolute(_ path: BytePath) -> BytePath {
    let full = fromWorkingDirectory(path).tidied
    if full.isPlain { return full }
    // Only the file system knows where `..` leads.
    let name = full.lastComponent
    return name == ".." ? resolved(full) : resolved(full.parent).appending(name)
  }

  private static func fromWorkingDirectory(_ path: BytePath) -> BytePath {
    guard !path.isAbsolute, let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return BytePath(cString: directory).appending(path)
  }
}
