import Glibc
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// What stands in `library.json`.
struct LibraryFile: Hashable, Codable {
  var format: Int
  var id: String
}

/// Whether what is at the library's path is this process's library: looked at before all work there.
///
/// A library is known by its id. It belongs to one process at a time, which holds a socket name made of
/// the id: the name is gone with the process, and hinders no unmounting as an open lock file would. It
/// is one of the network namespace, so processes in different ones do not see each other's.
final class LibraryPresence: Sendable {
  enum Standing: Hashable, Sendable {
    case present(id: String)
    /// There is no `library.json`: most likely its mount is away.
    case away
    /// It cannot be told.
    case unreadable(LibraryError)
    /// Another library is at the path.
    case other(id: String)
    /// It is this library, and another process has it.
    case taken
  }

  private struct State {
    var id: String?
    /// `library.json` as it was when it was read and all was well.
    var seen: FileIdentity?
    var claim: FileDescriptor?
    var last: Standing?
  }

  private let layout: StoreLayout
  private let isExclusive: Bool
  private let logger: Logger
  private let state: Mutex<State>

  /// - Parameters:
  ///   - layout: where it is.
  ///   - id: the library that is meant; nil for the first that is found.
  ///   - isExclusive: have it for this process alone.
  ///   - logger: hears once of another library, and of another process.
  init(_ layout: StoreLayout, id: String?, isExclusive: Bool, logger: Logger) {
    self.layout = layout
    self.isExclusive = isExclusive
    self.logger = logger
    state = Mutex(State(id: id))
  }

  /// Looks; takes the library where it is found and is not taken yet.
  func standing() -> Standing {
    let (standing, isNew) = state.withLock { state in
      let standing = look(&state)
      defer { state.last = standing }
      return (standing, state.last != standing)
    }
    if isNew, let detail = standing.absence(layout.root)?.detail, standing != .away {
      logger.error("The library cannot be used", [.path: layout.root.displayText, .detail: detail])
    }
    return standing
  }

  private func look(_ state: inout State) -> Standing {
    do throws(LibraryError) {
      let status = try storing(layout.libraryFile) { () throws(SystemError) in
        try FileStatus.of(layout.libraryFile)
      }
      guard let status else { return .away }
      if let id = state.id, state.seen == status.identity { return .present(id: id) }
      state.seen = nil
      guard let (file, identity) = try read() else { return .away }
      guard state.id == nil || state.id == file.id else { return .other(id: file.id) }
      if isExclusive, state.claim == nil {
        guard let claim = try claim(file.id) else { return .taken }
        state.claim = claim
      }
      state.id = file.id
      state.seen = identity
      return .present(id: file.id)
    } catch {
      return .unreadable(error)
    }
  }

  /// Nil while another process has it.
  private func claim(_ id: String) throws(LibraryError) -> FileDescriptor? {
    do throws(SystemError) {
      return try UnixSocket.claim("handoff-library-\(id)")
    } catch {
      guard error.errno == EADDRINUSE else {
        throw LibraryError(.other, layout.root, underlying: error)
      }
      return nil
    }
  }

  private func read() throws(LibraryError) -> (LibraryFile, FileIdentity)? {
    let path = layout.libraryFile
    let found = try storing(path) { () throws(SystemError) -> ([UInt8], FileIdentity)? in
      do throws(SystemError) {
        let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        return (try file.readAll(limit: 65_536), try file.status().identity)
      } catch let error where error.errno == ENOENT {
        return nil
      }
    }
    guard let (bytes, identity) = found else { return nil }
    let file: LibraryFile
    do {
      file = try WireCoder.decode(LibraryFile.self, from: bytes)
    } catch {
      throw LibraryError(.unknownFormat, path, detail: "\(error)")
    }
    guard file.format <= StoreLayout.format else {
      throw LibraryError(
        .unknownFormat,
        path,
        detail: "format \(file.format) is newer than \(StoreLayout.format); use a newer handoff"
      )
    }
    return (file, identity)
  }
}

extension LibraryPresence.Standing {
  /// Why the library cannot be used now; nil where it can.
  func absence(_ root: BytePath) -> LibraryError? {
    switch self {
    case .present: nil
    case .away: LibraryError(.unavailable, root, detail: "there is no library.json")
    case .unreadable(let error):
      LibraryError(.unavailable, root, underlying: error.underlying, detail: error.description)
    case .other(let id):
      LibraryError(
        .unavailable,
        root,
        detail: "another library (id \(id)) is there, not the one that the ledger knows"
      )
    case .taken: LibraryError(.unavailable, root, detail: "another broker uses this library")
    }
  }
}
