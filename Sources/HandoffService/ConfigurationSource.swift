import Glibc
package import HandoffConfig
import HandoffCore
import LinuxSystem
package import Paths

/// Reads configuration files.
package enum ConfigurationSource {
  /// Reads and decodes one; blocks.
  ///
  /// - Parameter path: absolute.
  /// - Returns: the configuration, with the text that it was made of.
  /// - Throws: ``ConfigurationError``, of which a file that cannot be read has one problem, at its start.
  package static func load(at path: BytePath) throws(ConfigurationError) -> Configuration {
    let bytes: [UInt8]
    do {
      // Without O_NONBLOCK a FIFO of that name would keep the broker waiting for ever.
      let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY)
      bytes = try file.readAll(limit: 4 << 20)
    } catch {
      let problem = ConfigurationProblem(file: path, line: 1, column: 1, text: "\(error)")
      throw ConfigurationError(problems: [problem])
    }
    return try decode(bytes, of: path)
  }

  /// Decodes what was read from a file.
  package static func decode(
    _ bytes: [UInt8],
    of path: BytePath
  ) throws(ConfigurationError) -> Configuration {
    try Configuration.decode(
      bytes: bytes,
      file: path,
      directory: path.parent,
      resolve: { resolved($0) }
    )
  }
}
