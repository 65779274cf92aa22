import Glibc
import HandoffLog
import LinuxSystem
import Paths
import Synchronization

/// The private folder whose events wake the watch thread: libinotifytools can wait for nothing else.
final class ControlFolder: Sendable {
  let path: BytePath
  private let logger: Logger
  private let count = Atomic<Int>(0)

  init(_ path: BytePath, logger: Logger) {
    self.path = path
    self.logger = logger
  }

  /// Makes the folder, and empties it of what a killed process has left.
  func prepare() throws(SystemError) {
    try Directory.create(path, permissions: 0o700)
    for entry in try Directory.entries(of: path) where entry.kind == .regular {
      try DurableFile.unlink(path.appending(entry.name))
    }
  }

  /// Makes an event.
  ///
  /// It comes after all that are in the queue now.
  ///
  /// - Returns: the name in the event; no two are the same.
  @discardableResult
  func wake() -> BytePath {
    let name = BytePath("wake-\(count.add(1, ordering: .relaxed).newValue)")
    logger.logged("the watch thread could not be woken") {
      let file = path.appending(name)
      do {
        try FileDescriptor.open(file, O_WRONLY | O_CREAT | O_EXCL).close()
        try checked("unlink", file) { unlink(file.nulTerminated) }
      } catch let error as SystemError where [ENOSPC, EDQUOT, EMFILE].contains(error.errno) {
        // Touching the folder makes an event too, and needs neither space nor a descriptor.
        try checked("utimes", path) { utimes(path.nulTerminated, nil) }
      }
    }
    return name
  }
}
