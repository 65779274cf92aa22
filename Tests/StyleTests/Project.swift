import FoundationEssentials

/// The project's own files, as the tests of style read them.
enum Project {
  /// The package's top level, found from this file.
  static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The files below some folders with one of some extensions, by their paths from the top level.
  static func files(in folders: [String], extensions: Set<String>) throws -> [SourceFile] {
    var files: [SourceFile] = []
    for folder in folders {
      let names = try FileManager.default.subpathsOfDirectory(
        atPath: root.appending(path: folder).path
      )
      for name in names.sorted() where extensions.contains(fileExtension(of: name)) {
        let url = root.appending(path: folder).appending(path: name)
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        files.append(SourceFile(path: "\(folder)/\(name)", text: text))
      }
    }
    return files
  }

  /// The names of the folders in a folder.
  static func folders(in folder: String) throws -> [String] {
    let url = root.appending(path: folder)
    return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted().filter { name in
      var isDirectory: Bool = false
      let path = url.appending(path: name).path
      return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory
    }
  }

  private static func fileExtension(of name: String) -> String {
    guard let dot = name.lastIndex(of: ".") else { return "" }
    return String(name[name.index(after: dot)...])
  }
}

/// The text of one file.
struct SourceFile: Sendable {
  /// From the top level, with slashes.
  var path: String
  var text: String

  /// The name without folder and extension.
  var stem: String {
    let name = path.split(separator: "/").last ?? ""
    return String(name.split(separator: ".").first ?? "")
  }

  var lineCount: Int { text.split(separator: "\n", omittingEmptySubsequences: false).count - 1 }

  /// The lines without comments and the content of texts.
  var codeLines: [(number: Int, code: Substring)] {
    SwiftCode.withoutTexts(text).split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated().map { ($0.offset + 1, $0.element) }
  }

  /// The modules that it imports, with their lines.
  var imports: [(number: Int, module: String)] {
    codeLines.compactMap { number, code in
      let words = code.split(whereSeparator: \.isWhitespace)
      guard let keyword = words.firstIndex(of: "import"),
        words[..<keyword].allSatisfy({ Self.accessLevels.contains($0) || $0.hasPrefix("@") }),
        let last = words.dropFirst(keyword + 1).last
      else { return nil }
      return (number, String(last.split(separator: ".").first ?? ""))
    }
  }

  private static let accessLevels: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private",
  ]
}
