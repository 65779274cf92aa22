import Glibc
import LinuxSystem
import Paths

/// The lock of a folder of previews: one process at a time puts a preview in its place or makes the index.
///
/// It goes with its descriptor, however the process ends.
struct FolderLock: Sendable {
  static let name: BytePath = "lock"
  /// Seconds; whoever holds it works much shorter, unless it is stopped.
  private static let patience = 30.0
  private static let pause = 0.02

  private let file: FileDescriptor

  /// Waits for it; blocks the thread.
  ///
  /// - Throws: `SystemError`, `EWOULDBLOCK` where somebody does not let go of it.
  init(in own: BytePath, patience: Double = Self.patience) throws(SystemError) {
    try Directory.create(own)
    let path = own.appending(Self.name)
    file = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o644)
    var left = patience
    while flock(file.rawValue, LOCK_EX | LOCK_NB) == -1 {
      let error = SystemError.last("flock", path)
      guard [EWOULDBLOCK, EINTR].contains(error.errno), left > 0 else { throw error }
      usleep(UInt32(Self.pause * 1e6))
      left -= Self.pause
    }
  }
}
