import Glibc
import HandoffConfig
import HandoffCore
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// Finds and reads the check box beside an export: `NAME.EXT.handoff.toml`.
struct SidecarReader: Sendable {
  /// A sidecar that was read, with what identifies it for being consumed once.
  struct Found: Sendable {
    let sidecar: Sidecar
    let path: BytePath
    let identity: FileIdentity
  }

  let ledger: Ledger
  let callbacks: Set<CallbackID>
  let files: BlockingThread

  /// Reads the sidecar of an export; nil where there is none, or where it was consumed with an earlier
  /// export of that name.
  ///
  /// - Throws: ``ConfigurationError`` for one that is invalid, which holds its export; ``SystemError``.
  func read(for export: BytePath, in folder: DropFolderSettings) async throws -> Found? {
    let path = export.addingSuffix(Sidecar.suffix)
    guard let (bytes, identity) = try await files.run({ try Self.load(path) }) else { return nil }
    guard try await !ledger.sidecarIsConsumed(path, identity: identity) else { return nil }
    let sidecar = try Sidecar.decode(bytes: bytes, file: path, folder: folder, callbacks: callbacks)
    return Found(sidecar: sidecar, path: path, identity: identity)
  }

  private static func load(_ path: BytePath) throws -> ([UInt8], FileIdentity)? {
    do {
      let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
      let status = try file.status()
      guard status.kind == .regular else { return nil }
      return (try file.readAll(limit: Sidecar.maximumSize), FileIdentity(status))
    } catch  where [ENOENT, ENAMETOOLONG].contains(error.errno) {
      return nil
    }
  }
}
