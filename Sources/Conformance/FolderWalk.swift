import LinuxSystem
import Paths

/// Walks through what a plugin has left; symbolic links are not followed.
enum FolderWalk {
  /// The first answer that is not nil.
  static func first<Answer>(
    in folders: [BytePath],
    _ look: (BytePath, FileStatus.Kind) throws -> Answer?
  ) throws -> Answer? {
    var waiting = folders
    while let folder = waiting.popLast() {
      for entry in try Directory.entries(of: folder) {
        let path = folder.appending(entry.name)
        guard let status = try FileStatus.of(path) else { continue }
        if status.kind == .directory { waiting.append(path) }
        if let answer = try look(path, status.kind) { return answer }
      }
    }
    return nil
  }
}
