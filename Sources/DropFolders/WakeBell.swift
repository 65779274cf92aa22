import Glibc
import HandoffLog
import LinuxSystem

/// Wakes the watch thread while it has no inotify instance to wait at.
final class WakeBell: Sendable {
  private let reading: FileDescriptor
  private let writing: FileDescriptor
  private let logger: Logger

  init(logger: Logger) throws(SystemError) {
    (reading, writing) = try FileDescriptor.pipe()
    // A full pipe wakes too.
    try writing.setNonblocking()
    self.logger = logger
  }

  /// Never waits.
  func ring() {
    do {
      try writing.write([0])
    } catch  where error.errno == EAGAIN {
      return
    } catch {
      logger.warning("the watch thread could not be woken", [.error: "\(error)"])
    }
  }

  /// Waits until it has been rung, once for all rings that have come.
  func wait() throws(SystemError) {
    let heard = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { heard.deallocate() }
    _ = try reading.read(into: heard)
  }
}
