import HandoffPluginKit
import HandoffProtocol

/// `name:path`: a remote of rclone's configuration and the folder or bucket in it that is the archive.
struct RemoteAddress: Hashable, Sendable, CustomStringConvertible {
  /// The section of the configuration.
  let name: String
  /// Without a slash at its end; empty for the remote's own root.
  let path: String

  /// - Throws: `ResultError` for what is no such address, and for rclone's connection strings: they have
  ///   settings in them, which would stand in the process list.
  init(_ text: String) throws(ResultError) {
    guard let colon = text.firstIndex(of: ":") else {
      throw .notConfigured("settings.remote is not NAME:PATH, as in “backup:bucket/masters”")
    }
    name = String(text[..<colon])
    guard !name.isEmpty, !name.hasPrefix("-"), !name.contains(where: { ",=/\"'".contains($0) })
    else {
      throw .notConfigured(
        "settings.remote does not begin with the name of a remote",
        remedy: "Name a section of rclone_config; its settings stand there."
      )
    }
    var path = text[text.index(after: colon)...]
    while path.hasSuffix("/"), path.count > 1 { path = path.dropLast() }
    guard !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) else {
      throw .notConfigured("settings.remote has . or .. in its path")
    }
    self.path = String(path)
  }

  /// As rclone takes it.
  var description: String { "\(name):\(path)" }

  /// The address of something in the archive; a path relative to it.
  func place(_ relative: String) -> String {
    if relative.isEmpty { return description }
    let slash = path.isEmpty || path.hasSuffix("/") ? "" : "/"
    return description + slash + relative
  }
}
