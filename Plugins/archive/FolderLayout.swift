import HandoffPluginKit
import HandoffProtocol
import Paths

/// Where in the archive a copy goes: a relative path with `{year}`, `{month}` and `{day}` (UTC, of the
/// moment when the handoff first came) and `{title}`.
struct FolderLayout: Sendable {
  static let standard = "{year}/{month}"

  private static let names = ["year", "month", "day", "title"]
  private let parts: [String]

  /// - Throws: `ResultError` with `not_configured` for a template that is absolute, climbs, or has an
  ///   unknown name.
  init(_ template: String) throws(ResultError) {
    parts = template.split(separator: "/").map(String.init)
    guard !template.hasPrefix("/"), !parts.contains(".."), !parts.contains(".") else {
      throw .notConfigured("settings.layout is not a relative path without . and ..")
    }
    for part in parts {
      var rest = part
      for name in Self.names { rest = rest.replacing("{\(name)}", with: "") }
      guard !rest.contains(where: { "{}".contains($0) }) else {
        throw .notConfigured("settings.layout knows {\(Self.names.joined(separator: "}, {"))}")
      }
    }
  }

  /// The folder for one handoff, relative to the archive's; empty for the archive's own.
  func path(for handoff: ReceivedHandoff, at moment: Timestamp) -> BytePath {
    let date = moment.rfc3339.prefix(10).split(separator: "-").map(String.init)
    let values = date + [handoff.title ?? "untitled"]
    var path = BytePath([])
    for part in parts {
      var name = part
      for (key, value) in zip(Self.names, values) {
        name = name.replacing("{\(key)}", with: value)
      }
      let folder = Self.folderName(name)
      path = path.isEmpty ? folder : path.appending(folder)
    }
    return path
  }

  /// A title as the name of a folder: no slash, no control character, at most 255 bytes, and nothing
  /// that a shell or file manager hides or takes for another folder.
  private static func folderName(_ text: String) -> BytePath {
    var name = ""
    for scalar in text.unicodeScalars {
      let isBad = scalar == "/" || scalar.properties.generalCategory == .control
      let next = isBad ? "_" : String(scalar)
      if name.utf8.count + next.utf8.count > 255 { break }
      name += next
    }
    if name.hasPrefix(".") { name = "_" + name.dropFirst() }
    return BytePath(name.isEmpty ? "untitled" : name)
  }
}
