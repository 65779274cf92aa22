import HandoffPluginKit
import HandoffProtocol
import Paths

/// Where in the archive a copy goes: a relative path with names in braces (``LayoutValues/names``).
///
/// A template whose last part has `{file}` or `{ext}` names the copy itself. Every other one, and one that
/// ends with a slash, is the folder, in which the copy has the export's own name.
struct Layout: Sendable {
  static let standard = "{year}/{month}"

  /// The path of one copy, relative to the archive.
  struct Place: Hashable, Sendable {
    /// The folder; empty for the archive's own.
    var folder: BytePath
    /// The name that it should have, if that is free: see ``ArchiveName``.
    var name: BytePath
    /// The folder whose `ascmhl` tells of it: ``folder`` or one above it; empty for the archive's own.
    var unit: BytePath
  }

  fileprivate enum Piece: Hashable {
    case text(String)
    case name(String)
  }

  fileprivate typealias Part = [Piece]

  private let folders: [Part]
  private let file: Part?
  private let unitDepth: Int

  /// Reads a template, and the leading folders of it that are one MHL history.
  ///
  /// - Throws: `ResultError` with `not_configured` for a template that is absolute, climbs, or has an
  ///   unknown name.
  init(_ template: String, mhlRoot: String? = nil) throws(ResultError) {
    let parts = try Self.parts(template, "settings.layout")
    let namesFile =
      !template.hasSuffix("/")
      && (parts.last ?? []).contains { $0 == .name("file") || $0 == .name("ext") }
    folders = namesFile ? parts.dropLast() : parts
    file = namesFile ? parts.last : nil
    guard let mhlRoot else {
      unitDepth = folders.count
      return
    }
    let leading = mhlRoot == "." ? [] : try Self.parts(mhlRoot, "settings.mhl_root")
    guard leading.count <= folders.count, leading == Array(folders.prefix(leading.count)) else {
      throw .notConfigured("settings.mhl_root is not . or the leading folders of the layout")
    }
    unitDepth = leading.count
  }

  /// The place for one asset of a handoff.
  func place(for values: LayoutValues) -> Place {
    var folder = BytePath([])
    var unit = folder
    for (index, part) in folders.enumerated() {
      folder = folder.appending(LayoutName.folder(values.bytes(of: part)))
      if index + 1 == unitDepth { unit = folder }
    }
    let name = file.map { LayoutName.file(values.bytes(of: $0, inFileName: true)) }
    return Place(folder: folder, name: name ?? values.exportName, unit: unit)
  }

  private static func parts(_ template: String, _ setting: String) throws(ResultError) -> [Part] {
    let texts = template.split(separator: "/").map(String.init)
    guard !template.hasPrefix("/"), !texts.contains(".."), !texts.contains(".") else {
      throw .notConfigured("\(setting) is not a relative path without . and ..")
    }
    guard !template.unicodeScalars.contains(where: LayoutName.isControl) else {
      throw .notConfigured("\(setting) has a control character")
    }
    var parts: [Part] = []
    for text in texts {
      if text.hasPrefix(".") {
        throw .notConfigured("\(setting) has a part that begins with a dot")
      }
      parts.append(try part(text, setting))
    }
    return parts
  }

  private static func part(_ text: String, _ setting: String) throws(ResultError) -> Part {
    var pieces: Part = []
    var rest = text[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      if brace > rest.startIndex { pieces.append(.text(String(rest[..<brace]))) }
      let inner = rest[rest.index(after: brace)...]
      guard rest[brace] == "{", let end = inner.firstIndex(of: "}"),
        LayoutValues.isKnown(inner[..<end])
      else {
        let known = LayoutValues.names.map { "{\($0)}" }.joined(separator: ", ")
        throw .notConfigured("\(setting) has a name in “\(text)” that is none of \(known)")
      }
      pieces.append(.name(String(inner[..<end])))
      rest = inner[inner.index(after: end)...]
    }
    if !rest.isEmpty { pieces.append(.text(String(rest))) }
    return pieces
  }
}

extension LayoutValues {
  /// What a part of the layout says for them.
  fileprivate func bytes(of part: [Layout.Piece], inFileName: Bool = false) -> [UInt8] {
    var bytes: [UInt8] = []
    for piece in part {
      switch piece {
      case .text(let text): bytes += Array(text.utf8)
      case .name("ext") where exportName.fileExtension.isEmpty:
        // An export without an extension: no dot is left at the end.
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
      case .name(let name): bytes += value(name, inFileName: inFileName)
      }
    }
    return bytes
  }
}
