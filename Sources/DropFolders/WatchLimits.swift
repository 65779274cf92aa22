import Glibc
import LinuxSystem
import Paths

/// Puts the limits of inotify in words: the kernel reports them as a full disk or as too many files.
enum WatchLimits {
  private static let folder: BytePath = "/proc/sys/fs/inotify"

  /// One sentence that names the limit, its value and the setting that raises it.
  static func explanation(of error: SystemError) -> String {
    switch error.errno {
    case ENOSPC where error.operation == "inotify_add_watch":
      limit("max_user_watches", "inotify watch")
    case EMFILE where error.operation == "inotify_init":
      limit("max_user_instances", "inotify instance")
    case ERANGE where error.operation == "inotify_init":
      "inotify's descriptor has a number of 1024 or more, at which libinotifytools cannot wait"
    default: "\(error)"
    }
  }

  private static func limit(_ setting: String, _ thing: String) -> String {
    "no \(thing) is left for this user: raise fs.inotify.\(setting) (now \(value(setting))) with sysctl"
  }

  private static func value(_ setting: String) -> String {
    do {
      let file = try FileDescriptor.open(folder.appending(setting), O_RDONLY)
      let text = String(decoding: try file.readAll(limit: 64), as: UTF8.self)
      return String(text.prefix { $0.isNumber })
    } catch {
      return "unknown, \(error)"
    }
  }
}
