import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

/// The receiver's durable memory: one small file a handoff, in `handoffs` below the work folder.
///
/// Each write is synced before it returns, so that what was promised or done is known after a crash.
actor HandoffJournal {
  /// What was found at start.
  struct Contents: Sendable {
    var entries: [String: JournalEntry] = [:]
    /// Files that cannot be read: of these handoffs nobody knows how far they came.
    var damaged: [String: String] = [:]
  }

  private static let suffix = ".json"
  private let thread = BlockingThread("plugin.journal")
  private let folder: BytePath
  /// Held until the process ends: two processes must never work on the same handoffs.
  private var lock: FileDescriptor?

  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

  /// - Parameter work: the plugin's work folder.
  init(work: BytePath) {
    folder = work.appending("handoffs")
  }

  /// Waits until a process that served the same destination before has ended, then reads what it left.
  func open() throws -> Contents {
    try Directory.createDurably(folder, permissions: 0o700)
    let file = try FileDescriptor.open(folder.parent.appending("lock"), O_RDWR | O_CREAT)
    try checked("flock", folder.parent.appending("lock")) { flock(file.rawValue, LOCK_EX) }
    lock = file
    return try read()
  }

  /// Lets the next process in.
  func close() throws {
    try lock?.close()
    lock = nil
  }

  /// Writes an entry; it is on the disk when this returns.
  func store(_ entry: JournalEntry) throws {
    try FaultPlan.current.pass("journal")
    try DurableFile.write(WireCoder.encode(entry), to: path(of: entry.handoffID))
  }

  /// Forgets handoffs.
  func remove(_ ids: [String]) throws {
    for id in ids {
      try DurableFile.unlink(path(of: id))
    }
    if !ids.isEmpty { try Directory.sync(folder) }
  }

  private func read() throws -> Contents {
    var contents = Contents()
    for found in try Directory.entries(of: folder) {
      guard let text = found.name.exactText, !text.hasPrefix("."), text.hasSuffix(Self.suffix)
      else { continue }
      let id = String(text.dropLast(Self.suffix.count))
      do {
        let file = try FileDescriptor.open(folder.appending(found.name), O_RDONLY)
        let bytes = try file.readAll(limit: 1 << 20)
        contents.entries[id] = try WireCoder.decode(JournalEntry.self, from: bytes)
      } catch {
        contents.damaged[id] = "\(error)"
      }
    }
    return contents
  }

  private func path(of id: String) -> BytePath {
    folder.appending(id + Self.suffix)
  }
}
