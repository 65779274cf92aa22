import Glibc
import HandoffCore
import HandoffProtocol
import LinuxSystem
import Paths

/// Opens candidates and asks the kernel about them, on a thread of its own.
///
/// Nothing is opened that is no regular file, no symbolic link is followed below the root, and no open
/// waits: where another program's lease stands in the way, `EWOULDBLOCK` counts as open elsewhere.
actor ExportExaminer {
  /// An open candidate with what the kernel says of it.
  struct Opened: Sendable {
    let file: FileDescriptor
    let identity: FileIdentity
    let lease: FileLease?
    let proof: CandidateFinding.WriterProof
  }

  enum Result: Sendable {
    case opened(Opened)
    case found(CandidateFinding)
  }

  /// A process has the file open for writing; which one is another question.
  static let isOpen = "a process has it open for writing"

  private let thread = BlockingThread("examiner")
  let keeper: LeaseKeeper

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  init(_ keeper: LeaseKeeper) {
    self.keeper = keeper
  }

  func examine(_ path: BytePath, beneath root: BytePath) -> Result {
    do {
      return try open(path, beneath: root)
    } catch {
      return .found(.unreadable(AccessRefusal.text(error, path)))
    }
  }

  private func open(_ path: BytePath, beneath root: BytePath) throws(SystemError) -> Result {
    let folder: FileDescriptor
    do {
      guard let parent = try parent(of: path, beneath: root) else { return .found(.gone) }
      folder = parent
    } catch  where [ELOOP, EXDEV].contains(error.errno) {
      return .found(.irregular("below a symbolic link, which is never followed"))
    }
    let name = path.lastComponent
    guard let status = try FileStatus.of(name, in: folder) else { return .found(.gone) }
    if let finding = Self.irregularity(status.kind) { return .found(finding) }
    return try open(name, path, status, in: folder)
  }

  /// The folder that holds a path, reached without following a link; nil if it is not there.
  func parent(
    of path: BytePath,
    beneath root: BytePath
  ) throws(SystemError) -> FileDescriptor? {
    guard let relative = path.relative(to: root) else { return nil }
    let top = try FileDescriptor.open(root, O_RDONLY | O_DIRECTORY)
    if relative.parent.isEmpty { return top }
    do {
      return try FileDescriptor.openBeneath(relative.parent, O_RDONLY | O_DIRECTORY, in: top)
    } catch  where [ENOENT, ENOTDIR].contains(error.errno) {
      return nil
    }
  }

  /// What is at a path in a drop folder; nil if nothing is.
  func status(of path: BytePath, beneath root: BytePath) throws(SystemError) -> FileStatus? {
    guard let folder = try parent(of: path, beneath: root) else { return nil }
    return try FileStatus.of(path.lastComponent, in: folder)
  }

  private static func irregularity(_ kind: FileStatus.Kind) -> CandidateFinding? {
    switch kind {
    case .regular: nil
    case .symbolicLink: .irregular("a symbolic link, which is never followed")
    case .directory: .gone
    case .other: .irregular("not a regular file")
    }
  }

  private func open(
    _ name: BytePath,
    _ path: BytePath,
    _ seen: FileStatus,
    in folder: FileDescriptor
  ) throws(SystemError) -> Result {
    let file: FileDescriptor
    do {
      file = try FileDescriptor.open(
        name,
        O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY,
        in: folder
      )
    } catch {
      return .found(Self.finding(error, path, seen))
    }
    let status = try file.status()
    // Between the two looks another file may have taken the name.
    if let finding = Self.irregularity(status.kind) { return .found(finding) }
    switch keeper.attempt(file, onBreak: {}) {
    case .held(let lease):
      // Looked at again under the lease: this is what nobody can have changed since.
      let identity = try file.status().identity
      let proof = try Self.proof(of: file)
      return .opened(Opened(file: file, identity: identity, lease: lease, proof: proof))
    case .openForWriting:
      return .found(.openForWriting(Self.isOpen))
    case .unavailable(let error):
      let identity = status.identity
      return .opened(
        Opened(file: file, identity: identity, lease: nil, proof: .looks(error.reason))
      )
    }
  }

  /// What a lease that was granted proves.
  ///
  /// On FUSE it is granted while the other side has the file open for writing (checked: bindfs), and
  /// elsewhere the server may not have been asked: there it tells only of the writers of this host.
  private static func proof(of file: FileDescriptor) throws(SystemError)
    -> CandidateFinding.WriterProof
  {
    guard let network = try file.fileSystem().networkName else { return .lease }
    return .looks("a lease on \(network) tells only of writers on this host")
  }

  private static func finding(
    _ error: SystemError,
    _ path: BytePath,
    _ seen: FileStatus
  ) -> CandidateFinding {
    switch error.errno {
    case ENOENT, ENOTDIR:
      .gone
    case ELOOP:
      .irregular("a symbolic link, which is never followed")
    case EWOULDBLOCK:
      .openForWriting("another program holds a lease on it")
    default:
      .unreadable(AccessRefusal.text(error, path, seen))
    }
  }
}
