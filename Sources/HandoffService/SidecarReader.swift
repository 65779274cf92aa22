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
  let settings: SettingsInForce
  let files: BlockingThread

  /// Reads the sidecar of an export.
  ///
  /// - Throws: ``ConfigurationError`` for one that is invalid, which holds its export; ``SystemError``.
  func read(for export: BytePath, in folder: DropFolderSettings) async throws -> Reading {
    let path = export.addingSuffix(Sidecar.suffix)
    let loaded = try await files.run { () throws(SystemError) in try load(path) }
    switch loaded {
    case nil: return .none
    case .written: return .stillWritten
    case .symbolicLink: throw Self.invalid(path, "a symbolic link, which is never followed")
    case .content(let bytes, let identity):
      return try await reading(bytes, identity, path, folder)
    }
  }

  private func reading(
    _ bytes: [UInt8],
    _ identity: FileIdentity,
    _ path: BytePath,
    _ folder: DropFolderSettings
  ) async throws -> Reading {
    guard try await !ledger.sidecarIsConsumed(path, identity: identity) else { return .none }
    // Created first and written later: it must not count as a box that is not ticked.
    guard !bytes.isEmpty else { throw Self.invalid(path, "it is empty: still to be written") }
    let sidecar = try Sidecar.decode(
      bytes: bytes,
      file: path,
      folder: folder,
      callbacks: settings.now.callbacks
    )
    return .found(Found(sidecar: sidecar, path: path, identity: identity))
  }

  /// A sidecar lies beside an export that no import has read.
  func isUnread(besides export: BytePath) async throws -> Bool {
    let path = export.addingSuffix(Sidecar.suffix)
    let loaded = try await files.run { () throws(SystemError) in try load(path) }
    switch loaded {
    case nil: return false
    case .written, .symbolicLink: return true
    case .content(_, let identity):
      return try await !ledger.sidecarIsConsumed(path, identity: identity)
    }
  }

  private enum Loaded: Sendable {
    case written
    case symbolicLink
    case content([UInt8], FileIdentity)
  }

  private static func invalid(_ path: BytePath, _ text: String) -> ConfigurationError {
    ConfigurationError(problems: [
      ConfigurationProblem(file: path, line: 1, column: 1, text: text)
    ])
  }

  private func load(_ path: BytePath) throws(SystemError) -> Loaded? {
    let file: FileDescriptor
    do {
      file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    } catch {
      if [ENOENT, ENAMETOOLONG].contains(error.errno) { return nil }
      if error.errno == ELOOP { return .symbolicLink }
      throw error
    }
    let status = try file.status()
    guard status.kind == .regular else { return nil }
    let lease = leases.attempt(file)
    if case .openForWriting = lease { return .written }
    let bytes = try file.readAll(limit: Sidecar.maximumSize)
    if case .held(let lease) = lease, lease.isBroken { return .written }
    return .content(bytes, status.identity)
  }
}
