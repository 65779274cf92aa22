package import Paths

/// Names that are no exports: temporary names of writers, side files, and what a folder ignores.
///
/// A rename to a final name makes an export of one. What is neither temporary nor of a kind that is
/// known not to be video is a candidate, whatever its extension: the probe decides by content, so that
/// an unusual extension is not skipped in silence.
package struct TemporaryNames: Sendable {
  /// What is waited for besides, by a habit of the writer that a name tells of.
  ///
  /// A class, so that a candidate needs one word for it.
  package final class Patience: Sendable {
    /// The least quiet.
    package let quiet: Duration
    /// The writer, for people.
    package let title: String

    init(quiet: Duration, title: String) {
      self.quiet = quiet
      self.title = title
    }
  }

  private let temporary: WriterPatterns
  private let folders: WriterPatterns
  private let patient: [(pattern: ShellPattern, patience: Patience)]
  private let ignored: [ShellPattern]
  /// What lies beside an export while it is unfinished, as it is added to the export's name.
  package let unfinished: [(suffix: String, title: String)]
  /// What a stem ends with after a remux into the same container.
  package let remuxed: [String]

  /// - Parameters:
  ///   - writers: the first that fits a name is told of.
  ///   - ignored: the folder's own patterns.
  package init(writers: [WriterProfile] = WriterProfile.builtIn, ignored: [ShellPattern] = []) {
    temporary = WriterPatterns(writers.map { ($0.title, $0.temporary) })
    folders = WriterPatterns(writers.map { ($0.title, $0.folders) })
    patient = writers.flatMap { writer in
      guard let quiet = writer.quiet else { return [] as [(ShellPattern, Patience)] }
      let patience = Patience(quiet: quiet, title: writer.title)
      return writer.names.map { (ShellPattern($0, ignoringCase: true), patience) }
    }
    unfinished = writers.flatMap { writer in writer.unfinished.map { ($0, writer.title) } }
    remuxed = writers.flatMap(\.remuxed)
    self.ignored = ignored
  }

  package init(_ settings: DropFolderSettings) {
    self.init(writers: settings.writers, ignored: settings.ignore.map { ShellPattern($0) })
  }

  /// Why a file of this name is no export, or nil if it may be one.
  package func reason(for name: BytePath) -> String? {
    if let reason = Self.sideFile(name.bytes) { return reason }
    if let found = temporary.match(name) {
      return "a temporary name of \(found.title): \(found.pattern)"
    }
    let ending = name.lowercasedExtension
    if Self.otherExtensions.contains(ending) {
      return "not a video file name: .\(BytePath(ending))"
    }
    if let pattern = ignored.first(where: { $0.matches(name) }) {
      return "the folder's ignore pattern \(pattern.text)"
    }
    return nil
  }

  /// Why a file or directory of this name is an unfinished one that gets another name, or nil if nothing says
  /// so: what systems and editors keep beside files does not.
  package func transferReason(for name: BytePath) -> String? {
    guard Self.sideFile(name.bytes) == nil, let found = temporary.match(name) else { return nil }
    let pattern = found.pattern
    if Self.keptPatterns.contains(pattern) { return nil }
    if Self.widePatterns.contains(pattern) {
      let ending = BytePath(name.bytes.dropFirst()).lowercasedExtension
      if ending.isEmpty || Self.otherExtensions.contains(ending) { return nil }
    }
    return "a temporary name of \(found.title): \(pattern)"
  }

  /// Of files that stay as they are.
  private static let keptPatterns: Set<String> = [
    "._*", ".DS_Store", ".localized", ".smbdelete*", "Thumbs.db", "desktop.ini", "*.cfa",
    "*.mpgindex", ".nextcloudsync.log", ".sync_*.db*", "*.swp", "*.lock", "*~",
  ]
  /// These count where what follows looks like the name of an export.
  private static let widePatterns: Set<String> = [".*", "~*"]

  /// Why a folder of this name is not looked into, or nil if it is.
  package func reason(forFolder name: BytePath) -> String? {
    if let found = folders.match(name) {
      return "a folder of \(found.title): \(found.pattern)"
    }
    if let pattern = ignored.first(where: { $0.matches(name) }) {
      return "the folder's ignore pattern \(pattern.text)"
    }
    return nil
  }

  /// What an export of this name is waited for longer by, if at all.
  package func patience(for name: BytePath) -> Patience? {
    patient.filter { $0.pattern.matches(name) }.map(\.patience).max { $0.quiet < $1.quiet }
  }

  /// The export that a sidecar stands beside, or nil if the name is no sidecar.
  package static func export(ofSidecar path: BytePath) -> BytePath? {
    let suffix = ".handoff.toml"
    guard path.bytes.ends(with: suffix) else { return nil }
    return BytePath(path.bytes.dropLast(suffix.utf8.count))
  }

  private static func sideFile(_ name: [UInt8]) -> String? {
    if name.ends(with: ".handoff.toml") { return "a sidecar, read with its export" }
    if name.ends(with: ".handoff.json") { return "a receipt" }
    return nil
  }

  /// Kinds that lie beside exports.
  ///
  /// Everything that is not here is probed.
  private static let otherExtensions = Set(
    [
      "txt", "md", "log", "xml", "json", "yaml", "yml", "toml", "csv", "tsv", "html", "htm", "pdf",
      "doc", "docx", "xls", "xlsx", "srt", "vtt", "ass", "ssa", "sub", "idx", "scc", "stl", "edl",
      "aaf", "fcpxml", "otio", "prproj", "drp", "kdenlive", "blend", "xmp", "thm", "lrv", "cue",
      "nfo",
      "jpg", "jpeg", "png", "tif", "tiff", "bmp", "webp", "heic", "exr", "dpx", "psd", "svg",
      "cube",
      "wav", "mp3", "aac", "m4a", "flac", "oga", "opus", "aif", "aiff", "wma", "ac3", "zip",
      "tar", "gz", "bz2", "xz", "zst", "7z", "rar", "md5", "sha1", "sha256", "done", "db", "ini",
      "sqlite", "sqlite3", "torrent", "sh", "py",
    ].map { Array($0.utf8) }
  )
}

/// The patterns of all writers, in order; one that several have is told of all of them.
private struct WriterPatterns: Sendable {
  struct Entry: Sendable {
    let pattern: ShellPattern
    var titles: [String]
  }

  private let entries: [Entry]

  init(_ writers: [(title: String, patterns: [String])]) {
    var entries: [Entry] = []
    var places: [ShellPattern: Int] = [:]
    for (title, patterns) in writers {
      for pattern in patterns.map({ ShellPattern($0, ignoringCase: true) }) {
        if let place = places[pattern] {
          if !entries[place].titles.contains(title) { entries[place].titles.append(title) }
        } else {
          places[pattern] = entries.count
          entries.append(Entry(pattern: pattern, titles: [title]))
        }
      }
    }
    self.entries = entries
  }

  func match(_ name: BytePath) -> (title: String, pattern: String)? {
    let folded = ShellPattern.folded(name.bytes)
    guard let entry = entries.first(where: { $0.pattern.matches(bytes: folded) }) else {
      return nil
    }
    return (entry.titles.joined(separator: ", "), entry.pattern.text)
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool {
    count > text.utf8.count && suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
