import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// Brings one asset into the archive, on a thread of its own.
///
/// The name appears only when the bytes below it have been read back from the disk and are right.
actor ArchiveCopy {
  /// Progress is told once for so many bytes.
  private static let stride: Int64 = 16 << 20

  private let thread = BlockingThread("archive.copy")
  private let asset: GrantedAsset
  private let root: BytePath
  private let folder: BytePath
  private let name: BytePath
  private let temporary: BytePath

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// A copy below the archive's folder, `root`.
  init(_ item: ArchiveItem, root: BytePath) {
    asset = item.asset
    self.root = root
    folder = root.appending(item.place.folder)
    name = item.place.name
    temporary = folder.appending(item.temporaryName)
  }

  /// Keeps the asset; a copy that is there already is enough.
  ///
  /// - Parameter progress: told the part that is done, 0 to 1.
  /// - Throws: `ResultError`; `CancellationError`.
  func keep(_ progress: @Sendable (Double) async -> Void) async throws -> ArchiveReceipt {
    do {
      try makeFolders()
      let source = try openSource()
      defer { ArchiveError.logged("removing \(temporary.displayText)") { try removeTemporary() } }
      while true {
        switch try await place() {
        case .present(let path):
          try Manifest(folder: folder).add(path.lastComponent, asset.sha256)
          return receipt(path, method: "read back")
        case .free(let path):
          let method = try await write(source, progress)
          guard try publish(path) else { continue }
          try Manifest(folder: folder).add(path.lastComponent, asset.sha256)
          return receipt(path, method: method)
        }
      }
    } catch let error as SystemError {
      throw ArchiveError.result(error)
    }
  }

  private func receipt(_ path: BytePath, method: String) -> ArchiveReceipt {
    ArchiveReceipt(
      path: path,
      location: path.displayText,
      sha256: asset.sha256,
      size: asset.size,
      checksum: .init(algorithm: "sha256", value: asset.sha256.hex, method: method)
    )
  }

  private enum Place {
    case present(BytePath)
    case free(BytePath)
  }

  /// The first name that is free or has these bytes already.
  private func place() async throws -> Place {
    for name in ArchiveName.candidates(for: name, asset.sha256) {
      let path = folder.appending(name)
      guard let found = try FileStatus.of(path) else { return .free(path) }
      guard found.kind == .regular, found.size == asset.size else { continue }
      let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
      if try await digest(of: file) == asset.sha256 { return .present(path) }
    }
    throw ResultError(
      .receiverFailed,
      "other content has every name for this asset in \(folder.displayText)",
      effect: .none,
      retry: .afterFix
    )
  }

  private func makeFolders() throws {
    var path = root
    let steps = [BytePath([])] + (folder.relative(to: root)?.components ?? [])
    for step in steps {
      if !step.isEmpty { path = path.appending(step) }
      // One by one, so that a link in between is found: only real folders below the root.
      if mkdir(path.nulTerminated, 0o755) == 0 {
        try Directory.sync(path.parent)
      } else {
        let error = SystemError.last("mkdir", path)
        guard try FileStatus.of(path, following: step.isEmpty)?.kind == .directory else {
          throw error
        }
      }
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

  /// Writes the temporary file, syncs it, and reads it back.
  private func write(
    _ source: FileDescriptor,
    _ progress: @Sendable (Double) async -> Void
  ) async throws -> String {
    try removeTemporary()
    let target = try FileDescriptor.open(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
    let isShared = try clone(source, target)
    if !isShared {
      let copied = try await digest(of: source, copyingTo: target) { await progress($0 * 0.6) }
      guard copied == asset.sha256 else {
        throw ArchiveError.damaged(asset, "its SHA-256 is \(copied)")
      }
    }
    try checked("fchmod", temporary) { fchmod(target.rawValue, 0o444) }
    try target.sync()
    // What is read back shall come from the disk, not from memory; where that cannot be asked for,
    // the digest is still that of what the file system holds.
    _ = posix_fadvise(target.rawValue, 0, 0, POSIX_FADV_DONTNEED)
    let kept = try await digest(of: target) { await progress(0.6 + $0 * 0.4) }
    try target.close()
    guard kept == asset.sha256 else {
      throw ResultError(
        .receiverFailed,
        "read back, the copy in \(folder.displayText) has SHA-256 \(kept)",
        effect: .none,
        retry: .later,
        localIdentifier: asset.localIdentifier
      )
    }
    return isShared ? "shared" : "read back"
  }

  /// Shares the source's bytes where the file system can; the digest is then of what is shared.
  private func clone(_ source: FileDescriptor, _ target: FileDescriptor) throws -> Bool {
    do {
      try DurableFile.clone(from: source, to: target)
      return true
    } catch  where [EOPNOTSUPP, EXDEV, EINVAL, ENOSYS, ENOTTY, EPERM].contains(error.errno) {
      return false
    }
  }

  /// Gives the file its name; false if somebody has taken it meanwhile.
  private func publish(_ path: BytePath) throws -> Bool {
    do throws(SystemError) {
      try giveName(path)
    } catch  where error.errno == EEXIST {
      return false
    }
    try Directory.sync(folder)
    return true
  }

  private func giveName(_ path: BytePath) throws(SystemError) {
    do throws(SystemError) {
      try DurableFile.renameNoReplace(temporary, to: path)
    } catch  where error.errno == EINVAL || error.errno == ENOSYS {
      // A file system without renameat2: a second name does not replace either.
      try DurableFile.link(temporary, to: path)
      try DurableFile.unlink(temporary)
    }
  }

  private func removeTemporary() throws {
    try DurableFile.unlink(temporary)
  }

  /// Reads a file from its beginning and returns its digest, and copies it on the way if asked to.
  private func digest(
    of file: FileDescriptor,
    copyingTo target: FileDescriptor? = nil,
    _ progress: @Sendable (Double) async -> Void = { _ in }
  ) async throws -> ContentDigest {
    let pass = try DigestPass(file, copyingTo: target)
    while try pass.step(Self.stride) {
      try Task.checkCancellation()
      await progress(min(1, Double(pass.offset) / Double(max(asset.size, 1))))
    }
    guard let digest = try pass.finish() else { throw ArchiveError.damaged(asset, "no digest") }
    return digest
  }
}
