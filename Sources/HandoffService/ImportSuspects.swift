import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import LinuxSystem
import Paths
import Synchronization

/// Remembers over a crash of the broker which files it was importing, so that one that brings it down
/// each time is refused in the end and the others are taken.
///
/// A note is written before an import begins and removed after it: what is found at the start was under
/// way when the broker before this one crashed. A note that was counted and whose file has not been tried
/// since says so, and is not counted again. Notes are not synced: they have to outlive the process,
/// not a power cut, and those from before the machine's start count for nothing. What is noted comes
/// later each time and one after another, so that what was only beside it is taken.
final class ImportSuspects: Sendable {
  /// What is known of one file.
  private struct Suspect {
    let path: BytePath
    let size: Int64
    let modified: Int64
    var crashes: Int
    /// Its import has begun and not ended.
    var isUnderWay: Bool
    /// Its delay in this life of the broker is over.
    var hasWaited = false
  }

  private struct State {
    var suspects: [BytePath: Suspect] = [:]
    var isOneUnderWay = false
    /// 0 for never.
    var limit: Int
  }

  /// What is to be done with a file.
  private enum Step {
    case take(crashes: Int)
    case answer(ImportOutcome)
  }

  private let folder: BytePath
  private let boot: String
  private let files: BlockingThread
  private let logger: Logger
  private let state: Mutex<State>

  /// Reads the notes of the broker before this one; blocks.
  ///
  /// - Parameters:
  ///   - folder: made if it is not there.
  ///   - boot: names this start of the machine.
  ///   - limit: how many crashes a file may cause; 0 for any number.
  ///   - files: where notes are written.
  ///   - logger: hears of what was under way.
  /// - Throws: `SystemError` where the folder cannot be read.
  init(
    _ folder: BytePath,
    boot: String,
    limit: Int,
    files: BlockingThread,
    logger: Logger
  ) throws(SystemError) {
    self.folder = folder
    self.boot = boot
    self.files = files
    self.logger = logger
    try Directory.create(folder, permissions: 0o700)
    var found = State(limit: limit)
    for entry in try Directory.entries(of: folder) {
      let note = folder.appending(entry.name)
      guard var suspect = try Self.read(note, boot) else {
        try DurableFile.unlink(note)
        continue
      }
      guard suspect.isUnderWay else {
        found.suspects[entry.name] = suspect
        continue
      }
      suspect.crashes += 1
      suspect.isUnderWay = false
      found.suspects[entry.name] = suspect
      try Self.write(suspect, to: note, boot)
      logger.warning(
        "A file was being imported when the broker crashed",
        [.exportPath: suspect.path.displayText, .count: String(suspect.crashes)]
      )
    }
    state = Mutex(found)
  }

  /// Runs an import under a note; or says why it is not to be run now.
  func guarding(
    _ path: BytePath,
    _ identity: FileIdentity,
    _ work: () async -> ImportOutcome
  ) async -> ImportOutcome {
    let name = BytePath("\(identity.device)-\(identity.inode)")
    switch step(name, path, identity) {
    case .answer(let outcome): return outcome
    case .take(let crashes):
      let suspect = Suspect(
        path: path,
        size: identity.size,
        modified: identity.modified,
        crashes: crashes,
        isUnderWay: true
      )
      await note(suspect, name)
      let outcome = await work()
      await remove(name)
      state.withLock { state in
        state.suspects[name] = nil
        if crashes > 0 { state.isOneUnderWay = false }
      }
      return outcome
    }
  }

  /// Another limit holds from now on; 0 for never.
  func setLimit(_ limit: Int) { state.withLock { $0.limit = limit } }

  /// A person wants a file taken however often it was under way.
  func forget(_ path: BytePath) async {
    let names = state.withLock { state in
      let names = state.suspects.filter { $1.path == path }.map(\.key)
      for name in names { state.suspects[name] = nil }
      return names
    }
    for name in names { await remove(name) }
  }

  private func step(_ name: BytePath, _ path: BytePath, _ identity: FileIdentity) -> Step {
    state.withLock { state in
      // A file that has changed is another one.
      guard state.limit > 0, var suspect = state.suspects[name], suspect.size == identity.size,
        suspect.modified == identity.modified
      else { return .take(crashes: 0) }
      let times = "the broker crashed \(suspect.crashes) times while it imported this"
      if suspect.crashes >= state.limit {
        let reason = "given up: \(times); `handoff retry \(path.displayText)` has it tried again"
        return .answer(.failed(reason: reason, state: .refused, mayPass: false))
      }
      if !suspect.hasWaited {
        suspect.hasWaited = true
        state.suspects[name] = suspect
        let delay = Duration.seconds(min(1 << min(suspect.crashes - 1, 10), 900))
        return .answer(.held(reason: "\(times): it waits", state: .importing, upTo: delay))
      }
      guard !state.isOneUnderWay else {
        let reason = "\(times): it waits for another of which the same is true"
        return .answer(.held(reason: reason, state: .importing, upTo: .seconds(1)))
      }
      state.isOneUnderWay = true
      return .take(crashes: suspect.crashes)
    }
  }

  private func note(_ suspect: Suspect, _ name: BytePath) async {
    let (note, boot) = (folder.appending(name), boot)
    await logged("noting an import", suspect.path) {
      try await files.run { () throws(SystemError) in try Self.write(suspect, to: note, boot) }
    }
  }

  private func remove(_ name: BytePath) async {
    let note = folder.appending(name)
    await logged("removing the note of an import", note) {
      try await files.run { () throws(SystemError) in _ = try DurableFile.unlink(note) }
    }
  }

  /// Without its note an import goes on all the same: only its crash would not be counted.
  private func logged(
    _ what: String,
    _ path: BytePath,
    _ work: () async throws -> Void
  ) async {
    do {
      try await work()
    } catch {
      logger.warning(
        "A crash in an import may not be put down to it",
        [.path: path.displayText, .detail: what, .error: "\(error)"]
      )
    }
  }

  private static func write(
    _ suspect: Suspect,
    to note: BytePath,
    _ boot: String
  ) throws(SystemError) {
    let standing = suspect.isUnderWay ? "under_way" : "waiting"
    let head = "\(boot) \(suspect.crashes) \(suspect.size) \(suspect.modified) \(standing)\n"
    let file = try FileDescriptor.open(
      note,
      O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW,
      mode: 0o600
    )
    try file.write(Array(head.utf8) + suspect.path.bytes)
    try file.close()
  }

  /// Nil for one from before the machine's start, or with another form.
  private static func read(_ note: BytePath, _ boot: String) throws(SystemError) -> Suspect? {
    let bytes = try FileDescriptor.open(note, O_RDONLY | O_NOFOLLOW).readAll(limit: 1 << 16)
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
    guard words.count == 5, words[0] == boot, let crashes = Int(words[1]),
      let size = Int64(words[2]), let modified = Int64(words[3])
    else { return nil }
    let path = BytePath(Array(bytes[(end + 1)...]))
    return Suspect(
      path: path,
      size: size,
      modified: modified,
      crashes: crashes,
      isUnderWay: words[4] == "under_way"
    )
  }
}
