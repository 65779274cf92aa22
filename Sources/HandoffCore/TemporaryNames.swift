package import Paths

/// Names that are no exports: temporary names of exporters, browsers and sync tools, and side files.
///
/// A rename to a final name makes an export of one. What is neither temporary nor of a kind that is
/// known not to be video is a candidate, whatever its extension: the probe decides by content, so that
/// an unusual extension is not skipped in silence.
package enum TemporaryNames {
  /// Why a file of this name is no export, or nil if it may be one; patterns are the folder's own.
  package static func reason(for name: BytePath, patterns: [ShellPattern] = []) -> String? {
    let bytes = name.bytes
    if let reason = sideFile(bytes) ?? temporaryPrefix(bytes) { return reason }
    let ending = name.lowercasedExtension
    if temporaryExtensions.contains(ending) {
      return "a temporary name: .\(BytePath(ending))"
    }
    if otherExtensions.contains(ending) {
      return "not a video file name: .\(BytePath(ending))"
    }
    if let pattern = patterns.first(where: { $0.matches(name) }) {
      return "the folder's ignore pattern \(pattern.text)"
    }
    return nil
  }

  /// Why a folder of this name is not looked into, or nil if it is.
  package static func reason(forFolder name: BytePath, patterns: [ShellPattern] = []) -> String? {
    if name.bytes.first == UInt8(ascii: ".") { return "a dot folder" }
    if let found = systemFolders.first(where: { $0 == name }) {
      return "a system folder: \(found)"
    }
    if let pattern = patterns.first(where: { $0.matches(name) }) {
      return "the folder's ignore pattern \(pattern.text)"
    }
    return nil
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

  private static func temporaryPrefix(_ name: [UInt8]) -> String? {
    if name.starts(with: "._".utf8) { return "AppleDouble metadata: ._*" }
    // Also rsync's .NAME.XXXXXX, Syncthing's .syncthing.NAME.tmp and .DS_Store.
    if name.first == UInt8(ascii: ".") { return "a dot file" }
    if name.starts(with: "~syncthing~".utf8) { return "a temporary name of Syncthing" }
    if name.first == UInt8(ascii: "~") || name.last == UInt8(ascii: "~") {
      return "a temporary or backup name: ~"
    }
    if name.elementsEqual("Thumbs.db".utf8) || name.elementsEqual("desktop.ini".utf8) {
      return "a side file of Windows"
    }
    return nil
  }

  /// Folders that file servers and desktops keep for themselves.
  private static let systemFolders: [BytePath] = [
    "@eaDir", "#recycle", "#snapshot", "$RECYCLE.BIN", "System Volume Information", "lost+found",
    "__MACOSX",
  ]

  private static let temporaryExtensions = byteNames([
    "part", "partial", "tmp", "temp", "crdownload", "download", "filepart", "opdownload", "!qb",
    "!ut", "bc!", "aria2", "unconfirmed", "incomplete", "swp", "lock",
  ])

  /// Kinds that lie beside exports.
  ///
  /// Everything that is not here is probed.
  private static let otherExtensions = byteNames([
    "txt", "md", "log", "xml", "json", "yaml", "yml", "toml", "csv", "tsv", "html", "htm", "pdf",
    "doc", "docx", "xls", "xlsx", "srt", "vtt", "ass", "ssa", "sub", "idx", "scc", "stl", "edl",
    "aaf", "fcpxml", "otio", "prproj", "drp", "kdenlive", "blend", "xmp", "thm", "lrv", "cue",
    "nfo",
    "jpg", "jpeg", "png", "tif", "tiff", "bmp", "webp", "heic", "exr", "dpx", "psd", "svg", "cube",
    "wav", "mp3", "aac", "m4a", "flac", "oga", "opus", "aif", "aiff", "wma", "ac3", "zip",
    "tar", "gz", "bz2", "xz", "zst", "7z", "rar", "md5", "sha1", "sha256", "done", "db", "ini",
    "sqlite", "sqlite3", "torrent", "sh", "py",
  ])

  private static func byteNames(_ names: [String]) -> Set<[UInt8]> {
    Set(names.map { Array($0.utf8) })
  }
}

extension [UInt8] {
  fileprivate func ends(with text: String) -> Bool {
    count > text.utf8.count && suffix(text.utf8.count).elementsEqual(text.utf8)
  }
}
