package import HandoffProtocol
package import Paths

/// A file that holds a plugin's `settings` table alone, for the conformance kit.
package enum PluginSettingsFile {
  /// Reads TOML, or JSON where the file's name ends in `.json`.
  ///
  /// - Parameters:
  ///   - bytes: the file's content.
  ///   - file: its name, for messages.
  ///   - directory: the absolute folder that texts which begin with `./` are relative to, as in a
  ///     configuration.
  /// - Returns: an object.
  /// - Throws: ``ConfigurationError``.
  package static func decode(
    bytes: [UInt8],
    file: BytePath,
    directory: BytePath
  ) throws(ConfigurationError) -> JSONValue {
    file.bytes.suffix(5).elementsEqual(".json".utf8)
      ? try json(bytes, file) : try toml(bytes, file, directory)
  }

  private static func toml(
    _ bytes: [UInt8],
    _ file: BytePath,
    _ directory: BytePath
  ) throws(ConfigurationError) -> JSONValue {
    let context = DecodingContext(file: file, directory: directory)
    let root = try TableReader.root(of: bytes, limit: Configuration.maximumSize, context: context)
    let settings = root.plainTable()
    if let error = context.error { throw error }
    return settings
  }

  private static func json(
    _ bytes: [UInt8],
    _ file: BytePath
  ) throws(ConfigurationError) -> JSONValue {
    func problem(_ text: String) -> ConfigurationError {
      ConfigurationError(
        problems: [ConfigurationProblem(file: file, line: 1, column: 1, text: text)]
      )
    }
    do {
      let value = try WireCoder.decode(JSONValue.self, from: bytes)
      if case .object = value { return value }
    } catch {
      throw problem("\(error)")
    }
    throw problem("an object is expected, the settings by their names")
  }
}
