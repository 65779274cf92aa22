import Glibc
import LinuxSystem
package import Paths

/// Puts a ledger that was made elsewhere into a state folder, in the place of the one that is there or is
/// lost.
///
/// What is there is moved aside, never removed. At every moment in between, a broker that starts finds a
/// head file without its ledger and refuses: it never begins an empty ledger, which would hand everything
/// off again. An exchange that was interrupted is simply begun again.
package struct LedgerReplacement: Sendable {
  /// The state folder.
  let directory: BytePath
  /// Where the new ledger is, closed, in a folder of the same file system.
  let staged: BytePath
  /// Where the former one goes; made if it is needed.
  let former: BytePath

  /// The caller holds the state folder's lock.
  package init(directory: BytePath, staged: BytePath, former: BytePath) {
    self.directory = directory
    self.staged = staged
    self.former = former
  }

  /// Carries the exchange out; blocks.
  ///
  /// - Returns: whether anything was moved aside.
  /// - Throws: ``SystemError``.
  package func run() throws -> Bool {
    let here = LedgerFiles(directory)
    let new = LedgerFiles(staged)
    let names = Self.files(of: here).filter { access($0.nulTerminated, F_OK) == 0 }
    if !names.isEmpty { try Directory.create(former, permissions: 0o700) }
    // These two stay in place until another one takes it: the key is looked for here when the exchange is
    // begun again.
    let staying = [here.head, here.key]
    for file in names where staying.contains(file) {
      try DurableFile.link(file, to: former.appending(file.lastComponent))
    }
    if !names.isEmpty { try Directory.sync(former) }
    try DurableFile.rename(new.head, to: here.head)
    try here.syncDirectory()
    for file in names where !staying.contains(file) {
      try DurableFile.renameNoReplace(file, to: former.appending(file.lastComponent))
    }
    if !names.isEmpty { try Directory.sync(former) }
    try here.syncDirectory()
    try DurableFile.rename(new.key, to: here.key)
    try here.syncDirectory()
    try DurableFile.rename(new.database, to: here.database)
    try here.syncDirectory()
    return !names.isEmpty
  }

  private static func files(of files: LedgerFiles) -> [BytePath] {
    [
      files.head, files.database, files.database.addingSuffix("-wal"),
      files.database.addingSuffix("-shm"), files.key,
    ]
  }
}

extension Ledger {
  /// Refuses a state folder in which no ledger can be kept, before anything is made there.
  ///
  /// - Throws: ``LedgerError/notLocal(_:name:)``.
  package static func checkPlace(_ directory: BytePath) throws {
    try LedgerFiles(directory).checkFileSystem()
  }

  /// A ledger is in the folder, or was and has left something.
  package static func hasTraces(in directory: BytePath) throws -> Bool {
    let files = LedgerFiles(directory)
    try files.checkKinds()
    return try files.size(of: files.database) ?? 0 > 0 || files.size(of: files.head) != nil
  }
}
