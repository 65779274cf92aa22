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

  /// What lies beside an export.
  enum Reading: Sendable {
    /// Nothing, or what an earlier export of that name has used up.
    case none
    case found(Found)
    /// Somebody has it open for writing: half a box must not count.
    case stillWritten
  }

  let ledger: Ledger
  let leases: LeaseKeeper
  let callbacks: Set<CallbackID>
  let files: BlockingThread

  /// Reads the sidecar of an export.
  ///
  /// - Throws: ``ConfigurationError`` for one that is invalid, which holds its export; ``SystemError``.
  func read(for export: BytePath, in folder: DropFolderSettings) async throws -> Reading {
    let path = export.addingSuffix(Sidecar.suffix)
    let loaded = try await files.run { () throws(SystemError) in try load(path) }
    guard let loaded else { return .none }
    guard let (bytes, identity) = loaded.content else { return .stillWritten }
    guard try await !ledger.sidecarIsConsumed(path, identity: identity) else { return .none }
    let sidecar = try Sidecar.decode(bytes: bytes, file: path, folder: folder, callbacks: callbacks)
    return .found(Found(sidecar: sidecar, path: path, identity: identity))
  }

  /// A sidecar lies beside an export that no import has read.
  func isUnread(besides export: BytePath) async throws -> Bool {
    let path = export.addingSuffix(Sidecar.suffix)
    let loaded = try await files.run { () throws(SystemError) in try load(path) }
    guard let loaded else { return false }
    guard let (_, identity) = loaded.content else { return true }
    return try await !ledger.sidecarIsConsumed(path, identity: identity)
  }

  private struct Loaded: Sendable {
    /// Nil while it is written.
    let content: ([UInt8], FileIdentity)?
  }

  private func load(_ path: BytePath) throws(SystemError) -> Loaded? {
    guard let file = try open(path) else { return nil }
    let status = try file.status()
    guard status.kind == .regular else { return nil }
    let lease = leases.attempt(file)
    if case .openForWriting = lease { return Loaded(content: nil) }
    let bytes = try file.readAll(limit: Sidecar.maximumSize)
    if case .held(let lease) = lease, lease.isBroken { return Loaded(content: nil) }
    return Loaded(content: (bytes, status.identity))
  }

  private func open(_ path: BytePath) throws(SystemError) -> FileDescriptor? {
    do {
      return try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    } catch {
      if [ENOENT, ENAMETOOLONG].contains(error.errno) { return nil }
      throw error
    }
  }
}
