import LinuxSystem
import Paths

/// Looks at the granted files after a handoff.
struct GrantsLook {
  let folder: TrialFolder

  /// What was changed there, or is left that leads there; nil if nothing.
  func findings(of videos: [TrialVideo]) throws -> String? {
    let names = try Directory.entries(of: folder.grants).map(\.name)
    let own = videos.map { $0.path.lastComponent }
    if let foreign = names.first(where: { !own.contains($0) }) {
      return "\(foreign.displayText) was made in the folder of granted files"
    }
    for video in videos {
      guard let status = try FileStatus.of(video.path), status.kind == .regular else {
        return "the granted file is gone"
      }
      if let change = Self.change(from: video.status, to: status) { return change }
      guard try video.isUntouched else { return "the granted file was changed" }
    }
    return try FolderWalk.first(in: [folder.work, folder.own, folder.scratch]) { path, kind in
      guard kind == .symbolicLink, leadsToGrants(path) else { return nil }
      return "\(path.lastComponent.displayText) was left, a symbolic link to the granted file"
    }
  }

  private static func change(from old: FileStatus, to new: FileStatus) -> String? {
    if new.permissions != old.permissions {
      return "the granted file's mode is \(String(new.permissions, radix: 8)), and was "
        + String(old.permissions, radix: 8)
    }
    if new.links != old.links { return "the granted file has \(new.links) names: it was linked to" }
    return new.changed == old.changed ? nil : "the granted file was changed (its ctime is another)"
  }

  private func leadsToGrants(_ link: BytePath) -> Bool {
    do {
      return try Directory.canonical(link).parent == folder.grants
    } catch {
      // It leads nowhere.
      return false
    }
  }
}
