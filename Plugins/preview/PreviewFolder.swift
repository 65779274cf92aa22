import Glibc
import LinuxSystem
import Paths

/// The folder of one preview, and the one beside it in which it is made.
struct PreviewFolder: Sendable {
  let place: BytePath
  let temporary: BytePath
  private let thread = BlockingThread("preview.files")

  init(place: BytePath, temporary: BytePath) {
    self.place = place
    self.temporary = temporary
  }

  /// Makes the folder to work in, without what a crash left in it.
  func begin() async throws {
    try await thread.run {
      if mkdir(place.parent.nulTerminated, 0o755) == 0 { try Directory.sync(place.parent.parent) }
      try clear()
      try checked("mkdir", temporary) { mkdir(temporary.nulTerminated, 0o755) }
    }
  }

  /// Puts the files, the facts and the page in their place.
  ///
  /// A preview that is there already (the same bytes were handed off before) gets the new files one by
  /// one, the page last; files of the former one that this one has not are removed after that. Two
  /// destinations that do so wait for one another: the last one's files are there.
  func publish(page: [UInt8], facts: [UInt8], _ files: [String]) async throws {
    let names = files + [PreviewFacts.file, Preview.page]
    try await thread.run {
      for name in files {
        try FileDescriptor.open(temporary.appending(name), O_RDONLY).sync()
      }
      try DurableFile.write(facts, to: temporary.appending(PreviewFacts.file), permissions: 0o644)
      try DurableFile.write(page, to: temporary.appending(Preview.page), permissions: 0o644)
      try removeAll(but: names)
      let lock = try FolderLock(in: place.parent.appending(IndexFolder.own))
      defer { withExtendedLifetime(lock) {} }
      do {
        try DurableFile.renameNoReplace(temporary, to: place)
      } catch let error as SystemError where error.errno == EEXIST || error.errno == EINVAL {
        try checkFolder()
        for name in names {
          try DurableFile.rename(temporary.appending(name), to: place.appending(name))
        }
        try removeFormer(but: names)
        try Directory.sync(place)
        try clear()
      }
      try Directory.sync(place.parent)
    }
  }

  /// Removes what was begun; that it cannot be removed is told on standard error only, because the
  /// next try clears it too.
  func abandon() async {
    do {
      try await thread.run { try clear() }
    } catch {
      let line = Array("removing \(temporary.displayText): \(error)\n".utf8)
      _ = write(STDERR_FILENO, line, line.count)
    }
  }

  /// A link in its place would lead the files elsewhere.
  private func checkFolder() throws(SystemError) {
    if try FileStatus.of(place) == nil { try Directory.create(place) }
    guard try FileStatus.of(place)?.kind == .directory else {
      throw SystemError(ENOTDIR, "rename", place)
    }
  }

  private func clear() throws(SystemError) {
    guard try FileStatus.of(temporary) != nil else { return }
    try removeAll(but: [])
    try checked("rmdir", temporary) { rmdir(temporary.nulTerminated) }
  }

  private func removeAll(but kept: [String]) throws(SystemError) {
    for entry in try Directory.entries(of: temporary)
    where !kept.contains(where: { BytePath($0) == entry.name }) {
      try DurableFile.unlink(temporary.appending(entry.name))
    }
  }

  /// Only what a preview makes: what somebody else laid into the folder stays.
  private func removeFormer(but kept: [String]) throws(SystemError) {
    let own = [DecodePass.proxy, Waveform.name, Storyboard.track]
    for entry in try Directory.entries(of: place) {
      let name = entry.name.lossyText
      if (own.contains(name) || Storyboard.isSheet(name)) && !kept.contains(name) {
        try DurableFile.unlink(place.appending(entry.name))
      }
    }
  }
}
