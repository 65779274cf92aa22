import LinuxSystem
import Paths

/// What a plugin's folders hold: names, sizes and times of the files.
struct FolderPrint: Sendable {
  private struct Print: Hashable {
    let size: Int64
    let modified: Int64
  }

  private let files: [BytePath: Print]

  /// Looks at the folders that a plugin may write, besides the one for temporary files.
  init(_ folder: TrialFolder) throws {
    var files: [BytePath: Print] = [:]
    _ = try FolderWalk.first(in: [folder.work, folder.own]) { path, kind -> Bool? in
      guard kind == .regular, let status = try FileStatus.of(path) else { return nil }
      files[path] = Print(size: status.size, modified: status.modified)
      return nil
    }
    self.files = files
  }

  /// The name of a file that is another now, has come or has gone; nil for none.
  func change(in folder: TrialFolder) throws -> String? {
    let now = try FolderPrint(folder).files
    return Set(files.keys).union(now.keys).sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      .first { files[$0] != now[$0] }?.lastComponent.displayText
  }
}
