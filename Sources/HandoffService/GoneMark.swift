import Digests
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Whether a destination's receiver has answered that it is gone (410), kept over restarts.
///
/// The mark holds a digest of the address that said so: another address is another receiver.
final class GoneMark: Sendable {
  static let reason = "it answered 410: it wants no requests any more; change its url"

  private static let files = BlockingThread("gone")

  private let path: BytePath
  private let url: String
  private let logger: Logger
  private let state = Atomic(false)

  init(_ path: BytePath, url: String, logger: Logger) {
    self.path = path
    self.url = url
    self.logger = logger
  }

  var isSet: Bool { state.load(ordering: .acquiring) }

  /// Reads what an earlier broker has kept, and drops it where the address is another by now.
  func load() async throws {
    let (path, digest) = (path, try digest)
    let found = try await Self.files.run { () throws(SystemError) in
      guard try FileStatus.of(path) != nil else { return false }
      if try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1000) == digest { return true }
      try DurableFile.unlink(path)
      return false
    }
    state.store(found, ordering: .releasing)
  }

  /// Takes effect at once, and is kept as far as the disk takes it.
  func set() async {
    state.store(true, ordering: .releasing)
    do {
      let (path, digest) = (path, try digest)
      try await Self.files.run { () throws(SystemError) in
        try Directory.create(path.parent, permissions: 0o700)
        try DurableFile.write(digest, to: path)
      }
    } catch {
      logger.error(
        "That a receiver is gone is not kept over a restart",
        [.path: path.displayText, .error: "\(error)"]
      )
    }
  }

  private var digest: [UInt8] {
    get throws { Array(try SHA256.digest(of: Array(url.utf8)).hexDigits.utf8) }
  }
}
