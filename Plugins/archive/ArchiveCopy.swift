import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Brings one asset into the archive, on a thread of its own.
///
/// The name appears only when the bytes below it have been read back from the disk and are right.
actor ArchiveCopy {
  private let thread = BlockingThread("archive.copy")
  private let asset: GrantedAsset
  private let folder: CopyFolder
  private let name: BytePath
  private let temporary: BytePath
  /// The folder that has the MHL history; nil where there is none.
  private let unit: BytePath?

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// A copy below the archive's folder, `root`.
  init(_ item: ArchiveItem, root: BytePath, wantsMHL: Bool = false) {
    unit = wantsMHL ? root.appending(item.place.unit) : nil
    asset = item.asset
    folder = CopyFolder(root: root, path: root.appending(item.place.folder))
    name = item.place.name
    temporary = folder.path.appending(item.temporaryName)
  }

  /// Keeps the asset; a copy that is there already is enough.
  ///
  /// - Parameter progress: told the part that is done, 0 to 1.
  /// - Returns: the copy's receipt.
  /// - Throws: `ResultError`; `CancellationError`.
  func keep(_ progress: @Sendable (Double) async -> Void) async throws -> ArchiveReceipt {
    do {
      try folder.make()
      let source = try openSource()
      defer { ArchiveError.logged("removing \(temporary.displayText)") { try removeTemporary() } }
      var written: Written?
      while true {
        switch try await place(written) {
        case .present(let path, let digests):
          // Whoever gave it its name may have been killed before that was on the disk.
          try folder.sync()
          try manifest.add(path.lastComponent, asset.sha256)
          return receipt(path, Written(digests: digests, isShared: false))
        case .free(let path):
          // The name is looked for again: only the digests tell whether the history has it for other content.
          guard let kept = written else {
            written = try await write(source, progress)
            continue
          }
          guard try folder.publish(temporary, as: path) else { continue }
          try manifest.add(path.lastComponent, asset.sha256)
          return receipt(path, kept)
        }
      }
    } catch let error as SystemError {
      throw ArchiveError.result(error)
    }
  }

  private var manifest: Manifest { Manifest(folder: folder.path) }

  private struct Written {
    let digests: CopyDigests
    let isShared: Bool
  }

  private func receipt(_ path: BytePath, _ written: Written) -> ArchiveReceipt {
    ArchiveReceipt(
      path: path,
      location: path.displayText,
      sha256: asset.sha256,
      size: asset.size,
      checksum: .init(
        algorithm: "sha256",
        value: written.digests.sha256.hex,
        method: written.isShared ? "shared" : "read back"
      ),
      unit: unit,
      mhl: written.digests.mhl
    )
  }

  private enum Place {
    case present(BytePath, CopyDigests)
    case free(BytePath)
  }

  /// The first name that is free or has these bytes already, and that no manifest or history has for others.
  private func place(_ written: Written?) async throws -> Place {
    for name in ArchiveName.candidates(for: name, asset.sha256) {
      if try manifest.listsOtherwise(name, asset.sha256) { continue }
      let path = folder.path.appending(name)
      guard let found = try FileStatus.of(path) else {
        if try isListedOtherwise(path, written?.digests.mhl) { continue }
        return .free(path)
      }
      guard found.kind == .regular, found.size == asset.size else { continue }
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
      if let digests = try await digests(of: file), digests.sha256 == asset.sha256,
        try !isListedOtherwise(path, digests.mhl)
      {
        try file.sync()
        return .present(path, digests)
      }
    }
    throw ResultError(
      .receiverFailed,
      "other content has every name for this asset in \(folder.path.displayText)",
      effect: .none,
      retry: .afterFix
    )
  }

  /// The history has the name for other content, which is there no longer: verifying it would fail for ever.
  private func isListedOtherwise(_ path: BytePath, _ hashes: MHLHashes?) throws -> Bool {
    guard let unit, let hashes else { return false }
    let history = try MHLHistory.nearest(to: folder.path, unit: unit)
    guard let relative = path.relative(to: history.unit) else { return false }
    do {
      return try history.standing(of: relative, hashes) == .other
    } catch is MHLProblem {
      // The copy is kept all the same; the problem is told when the generation is to be added.
      return false
    }
  }

  private func openSource() throws -> FileDescriptor {
    let source = try FileDescriptor.open(asset.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    let status = try source.status()
    guard status.kind == .regular, status.size == asset.size else {
      throw ArchiveError.damaged(asset, "\(status.size) bytes, \(asset.size) were announced")
    }
    return source
  }

  /// Writes the temporary file, reads it back, and waits until it is on the disk.
  private func write(
    _ source: FileDescriptor,
    _ progress: @Sendable (Double) async -> Void
  ) async throws -> Written {
    try removeTemporary()
    let target = try FileDescriptor.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
    let isShared = try clone(source, target)
    let writer = isShared ? nil : try CopyWriter(from: source, to: target, size: asset.size)
    if isShared {
      try target.setPermissions(0o444)
      try target.sync()
    }
    let kept = try await digests(
      of: try FileDescriptor.open(temporary, O_RDONLY | O_NOFOLLOW),
      writtenBy: writer,
      progress
    )
    try target.close()
    guard let kept, kept.sha256 == asset.sha256 else { throw await reason(source, kept?.sha256) }
    return Written(digests: kept, isShared: isShared)
  }

  /// Why what was read back is not what was announced: the source's fault, or the archive's.
  private func reason(_ source: FileDescriptor, _ kept: ContentDigest?) async -> any Error {
    do {
      guard let found = try await digests(of: source) else {
        return ArchiveError.damaged(asset, "it has another size than announced")
      }
      if found.sha256 != asset.sha256 {
        return ArchiveError.damaged(asset, "its SHA-256 is \(found.sha256)")
      }
    } catch {
      return error
    }
    return ResultError(
      .receiverFailed,
      "read back, the copy in \(folder.path.displayText) has SHA-256 \(kept?.hex ?? "of less bytes")",
      effect: .none,
      retry: .later,
      localIdentifier: asset.localIdentifier
    )
  }

  /// Shares the source's bytes where the file system can; the digest is then of what is shared.
  private func clone(_ source: FileDescriptor, _ target: FileDescriptor) throws -> Bool {
    do {
      try DurableFile.clone(from: source, to: target)
      return true
    } catch  where Self.cannotShare(error) {
      return false
    }
  }

  /// The file system, or the pair of them, shares no bytes.
  static func cannotShare(_ error: SystemError) -> Bool {
    [EOPNOTSUPP, EXDEV, EINVAL, ENOSYS, ENOTTY, EPERM].contains(error.errno)
  }

  private func removeTemporary() throws {
    try DurableFile.unlink(temporary)
  }

  private func digests(
    of file: FileDescriptor,
    writtenBy writer: CopyWriter? = nil,
    _ progress: @Sendable (Double) async -> Void = { _ in }
  ) async throws -> CopyDigests? {
    let pass = CopyPass(file, size: asset.size, wantsMHL: unit != nil)
    do {
      return try await pass.digests(writtenBy: writer, progress)
    } catch is CopyWriter.SourceEnded {
      throw ArchiveError.damaged(asset, "it has become shorter")
    }
  }
}
