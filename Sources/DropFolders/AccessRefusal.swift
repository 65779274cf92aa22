import LinuxSystem
import Paths

/// Why a file or folder cannot be opened, for a person who has to change that: what it is about, whose it
/// is, and what the system says.
enum AccessRefusal {
  /// The status is nil where even that cannot be seen.
  static func text(_ error: SystemError, _ path: BytePath, _ status: FileStatus?) -> String {
    let owner = status.map { status in
      ", owner \(status.owner), group \(status.group), mode "
        + String(status.permissions, radix: 8)
    }
    let cause = "\(error.operation) \(path.displayText): \(error.reason)"
    return "\(cause) (errno \(error.errno)\(owner ?? ""))"
  }

  /// The same, looking for the owner.
  static func text(_ error: SystemError, _ path: BytePath) -> String {
    do {
      return text(error, path, try FileStatus.of(path))
    } catch {
      return text(error, path, nil)
    }
  }
}
