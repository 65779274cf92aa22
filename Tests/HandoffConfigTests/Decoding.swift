import HandoffConfig
import HandoffCore
import HandoffProtocol
import Paths
import Testing

/// Decodes a text as a configuration in `/etc/handoff`, where nothing is a symbolic link.
func decode(
  _ text: String,
  resolve: (BytePath) -> BytePath = { $0 }
) throws(ConfigurationError) -> Configuration {
  try Configuration.decode(
    bytes: Array(text.utf8),
    file: "handoff.toml",
    directory: "/etc/handoff",
    resolve: resolve
  )
}

/// The problems of a text, as they are printed; none if it can be used.
func problems(_ text: String, resolve: (BytePath) -> BytePath = { $0 }) -> [String] {
  do throws(ConfigurationError) {
    _ = try decode(text, resolve: resolve)
    return []
  } catch {
    return error.problems.map(\.description)
  }
}

/// A name that is known to be one.
func name(_ text: String) throws -> DestinationName {
  try #require(DestinationName(text))
}
