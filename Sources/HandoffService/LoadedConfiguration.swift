import Glibc
package import HandoffConfig
package import HandoffProtocol
import LinuxSystem
package import Paths

/// The configuration that the broker has loaded last, as it keeps it in its state folder: what a changed
/// file is compared with, and what commands go by while that file is no configuration.
///
/// It holds the file's text, and so no secret that is only referred to; mode 0600.
package struct LoadedConfiguration: Codable, Sendable {
  /// Absolute.
  package let file: BytePath
  package let loadedAt: Timestamp
  private let text: String

  private enum CodingKeys: String, CodingKey {
    case file
    case loadedAt = "loaded_at"
    case text
  }

  init(of configuration: Configuration, at moment: Timestamp) {
    file = configuration.file
    loadedAt = moment
    text = String(decoding: configuration.bytes, as: UTF8.self)
  }

  func write(into state: StateFolder) throws {
    let bytes = try WireCoder.encode(self)
    try DurableFile.write(bytes, to: state.loadedConfiguration, permissions: 0o600)
  }

  /// What a broker with this state folder has loaded last; nil where none has, or it cannot be read.
  package static func last(in state: StateFolder) -> LoadedConfiguration? {
    do {
      let bytes = try FileDescriptor.open(state.loadedConfiguration, O_RDONLY)
        .readAll(limit: 16 << 20)
      return try WireCoder.decode(LoadedConfiguration.self, from: bytes, limit: .max)
    } catch {
      // There is nothing to compare with, and whoever asks says so.
      return nil
    }
  }

  /// What the broker goes by that was started with a file which cannot be decoded now.
  ///
  /// The state folder stands in the file, so its lines are searched for one that a broker with this file
  /// has left its mark in.
  ///
  /// - Parameter file: absolute.
  /// - Returns: nil where none is found.
  package static func last(ofBroken file: BytePath) -> Configuration? {
    for state in states(namedIn: file) {
      guard let loaded = last(in: StateFolder(state)), loaded.file == file else { continue }
      do {
        return try loaded.configuration()
      } catch {
        // A broker of another version has written it.
        continue
      }
    }
    return nil
  }

  /// - Throws: ``ConfigurationError`` where it was written by a broker that knows other keys.
  package func configuration() throws(ConfigurationError) -> Configuration {
    try ConfigurationSource.decode(Array(text.utf8), of: file)
  }

  private static func states(namedIn file: BytePath) -> [BytePath] {
    var names = ["state"]
    do {
      let bytes = try FileDescriptor.open(file, O_RDONLY | O_NONBLOCK).readAll(limit: 4 << 20)
      for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
        let parts = line.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].filter({ !$0.isWhitespace }) == "state" else { continue }
        let quoted = parts[1].split(whereSeparator: { $0 == "\"" || $0 == "'" })
        if let name = quoted.first(where: { !$0.allSatisfy(\.isWhitespace) }) {
          names.append(String(name))
        }
      }
    } catch {
      // Only the state folder that stands for none in the file is left.
    }
    return names.map { name in
      name.hasPrefix("/") ? BytePath(name) : file.parent.appending(BytePath(name)).tidied
    }
  }
}
