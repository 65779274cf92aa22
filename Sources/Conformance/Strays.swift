import Glibc
import LinuxSystem
import Paths

/// Processes that outlive the plugin, found by a variable that only its descendants have.
enum Strays {
  /// The variable's name.
  static let mark = "HANDOFF_TRIAL"

  /// Finds them by their environment in /proc; others' processes cannot be read and are not ours.
  static func find(_ value: String) throws -> [(id: pid_t, name: String)] {
    let wanted = Array("\(mark)=\(value)".utf8)
    return try Directory.entries(of: "/proc").compactMap { entry in
      guard let id = entry.name.exactText.flatMap({ pid_t($0) }), id != getpid() else { return nil }
      let folder = BytePath("/proc").appending(entry.name)
      guard let variables = read(folder.appending("environ")),
        variables.split(separator: 0).contains(where: { $0.elementsEqual(wanted) })
      else { return nil }
      let name = read(folder.appending("comm")).map { String(decoding: $0, as: UTF8.self) } ?? ""
      return (id, String(name.prefix { !$0.isNewline }))
    }
  }

  /// Ends them.
  static func end(_ strays: [(id: pid_t, name: String)]) {
    for stray in strays { kill(stray.id, SIGKILL) }
  }

  /// The content, or nil for a process that has ended or is another user's.
  private static func read(_ path: BytePath) -> [UInt8]? {
    do throws(SystemError) {
      return try FileDescriptor.open(path, O_RDONLY).readAll(limit: 4 << 20)
    } catch {
      return nil
    }
  }
}
