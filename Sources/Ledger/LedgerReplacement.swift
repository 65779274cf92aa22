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

  /// Begins the exchange: from here on what is there is refused; blocks.
  ///
  /// The caller then says to whoever knows how far the ledger has come that it is another one.
  ///
  /// - Throws: ``SystemError``.
  package func begin() throws {
    let here = LedgerFiles(directory)
    let names = filesThere()
    if !names.isEmpty { try Directory.create(former, permissions: 0o700) }
    // These two stay in place until another one takes it: the key is looked for here when the exchange is
    // begun again.
    for file in names where file == here.head || file == here.key {
      try DurableFile.link(file, to: former.appending(file.lastComponent))
    }
    if !names.isEmpty { try Directory.sync(former) }
    try DurableFile.rename(LedgerFiles(staged).head, to: here.head)
    try here.syncDirectory()
  }

  /// Carries it out; blocks.
  ///
  /// - Returns: whether anything was moved aside.
  /// - Throws: ``SystemError``.
  package func finish() throws -> Bool {
    let here = LedgerFiles(directory)
    let new = LedgerFiles(staged)
    let names = filesThere()
    for file in names where file != here.head && file != here.key {
      try DurableFile.renameNoReplace(file, to: former.appending(file.lastComponent))
    }
    if try FileStatus.of(former) != nil { try Directory.sync(former) }
    try here.syncDirectory()
    try DurableFile.rename(new.key, to: here.key)
    try here.syncDirectory()
    try DurableFile.rename(new.database, to: here.database)
    try here.syncDirectory()
    return try FileStatus.of(former) != nil
  }

  private func filesThere() -> [BytePath] {
    let here = LedgerFiles(directory)
    let names = [
      here.head, here.database, here.database.addingSuffix("-wal"),
      here.database.addingSuffix("-shm"), here.key,
    ]
    return names.filter { access($0.nulTerminated, F_OK) == 0 }
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
