import Glibc
import HandoffCore
import LinuxSystem
import Paths

/// What lies beside an export as a proof that it is finished.
extension ExportExaminer {
  /// Looks for what a folder's `proof` asks for, beside an export that is open.
  func proof(
    _ proof: DropFolderSettings.Proof,
    of path: BytePath,
    _ identity: FileIdentity,
    beneath root: BytePath
  ) -> ProofFinding {
    do {
      switch proof {
      case .auto, .rename:
        return .notAsked
      case .marker:
        return try marker(path.addingSuffix(ProofFiles.markerSuffix), identity, beneath: root)
      case .checksum:
        for algorithm in ContentChecksum.Algorithm.allCases {
          if let finding = try checksum(algorithm, of: path, beneath: root) { return finding }
        }
        let suffixes = ContentChecksum.Algorithm.allCases.map(\.suffix).joined(separator: " or ")
        return .missing("no \(path.lastComponent.displayText)\(suffixes) lies beside it")
      }
    } catch {
      return .missing("its proof cannot be read: \(error)")
    }
  }

  /// A marker counts for the content that was there when it came, so one that is older than the content
  /// belongs to an earlier export of the name.
  ///
  /// A change of the export's mode or name cannot be told from one of its content: the marker has to be
  /// renewed then.
  private func marker(
    _ path: BytePath,
    _ export: FileIdentity,
    beneath root: BytePath
  ) throws(SystemError) -> ProofFinding {
    let name = path.lastComponent
    guard let folder = try parent(of: path, beneath: root),
      let status = try FileStatus.of(name, in: folder)
    else { return .missing("no \(name.displayText) lies beside it") }
    guard status.kind == .regular else {
      return .missing("\(name.displayText) is not a regular file")
    }
    // By change times, which nobody can set: content that comes with an old modification time is new.
    guard status.changed >= export.changed else {
      return .missing(
        "\(name.displayText) is older than the last change of the export's content, name or mode: "
          + "it counts once it is written anew"
      )
    }
    return .present("\(name.displayText) lies beside it")
  }

  /// Nil where there is no such file.
  private func checksum(
    _ algorithm: ContentChecksum.Algorithm,
    of export: BytePath,
    beneath root: BytePath
  ) throws(SystemError) -> ProofFinding? {
    let path = export.addingSuffix(algorithm.suffix)
    let name = path.lastComponent
    guard let folder = try parent(of: path, beneath: root),
      let seen = try FileStatus.of(name, in: folder)
    else { return nil }
    guard seen.kind == .regular else {
      return .missing("\(name.displayText) is not a regular file")
    }
    let file = try FileDescriptor.open(name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, in: folder)
    let lease = keeper.attempt(file)
    if case .openForWriting = lease {
      return .missing("\(name.displayText) is still open for writing")
    }
    let bytes = try file.readAll(limit: ChecksumFile.maximumSize)
    if case .held(let lease) = lease, lease.isBroken {
      return .missing("\(name.displayText) is still open for writing")
    }
    do throws(ChecksumFile.Problem) {
      return .claimed(try ChecksumFile.checksum(in: bytes, of: export.lastComponent, algorithm))
    } catch {
      return .missing("\(name.displayText) \(error)")
    }
  }
}
