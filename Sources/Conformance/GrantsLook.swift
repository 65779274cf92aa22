import LinuxSystem
import Paths

/// Looks at the granted files after a handoff.
struct GrantsLook {
  let folder: BytePath

  /// What was changed there; nil if nothing was.
  func findings(of video: TrialVideo) throws -> String? {
    let names = try Directory.entries(of: folder).map(\.name)
    if let foreign = names.first(where: { $0 != video.path.lastComponent }) {
      return "\(foreign.displayText) was made in the folder of granted files"
    }
    guard let status = try FileStatus.of(video.path), status.kind == .regular else {
      return "the granted file is gone"
    }
    return try video.isUntouched ? nil : "the granted file was changed"
  }
}
