import CInotifyTools
import Glibc
import LinuxSystem
import Paths
import Synchronization

/// The event source: the one wrapper of libinotifytools.
///
/// The library is one per process, and one thread's: it keeps its buffer, its descriptor and its table
/// of names in static storage. So there is at most one of these at a time, all calls come from the
/// thread that made it, and each event is copied at once. Only `initialize`, `watch_file`,
/// `next_event(-1)`, `remove_watch_by_wd` and `cleanup` are used, and `wd_from_filename` for the entry
/// that `watch_file` has just made: `watch_file` does not say which number the kernel gave. The
/// library's table goes stale when a directory is renamed or deleted, and a path may lead elsewhere by
/// the time the kernel follows it: so directories are named to it by their descriptors, no name is ever
/// given to it a second time, and nothing else is read from it.
///
/// See inotify(7).
final class InotifyTools {
  /// One event, copied out of the library's buffer.
  struct Event {
    /// -1 when the queue has overflowed.
    let watch: CInt
    let mask: UInt32
    /// The same for the two halves of one rename.
    let cookie: UInt32
    /// Empty when the watched directory itself is meant.
    let name: BytePath
  }

  private static let isTaken = Atomic<Bool>(false)

  /// Entries of dead directories, which the library keeps until it is opened anew (236 bytes each).
  private(set) var deadEntries = 0
  private var spellings: UInt64 = 0

  init() throws(SystemError) {
    precondition(
      !Self.isTaken.exchange(true, ordering: .acquiringAndReleasing),
      "libinotifytools is one per process"
    )
    do {
      try open()
    } catch {
      Self.isTaken.store(false, ordering: .releasing)
      throw error
    }
  }

  deinit {
    inotifytools_cleanup()
    Self.isTaken.store(false, ordering: .releasing)
  }

  /// Begins with a new, empty instance.
  ///
  /// The library's buffer outlives it: events of the old instance may still come, and their watch
  /// numbers mean nothing any more. Whoever calls this throws away what comes before a mark of their
  /// own.
  func reopen() throws(SystemError) {
    inotifytools_cleanup()
    deadEntries = 0
    try open()
  }

  private func open() throws(SystemError) {
    let before = try Self.instances()
    guard inotifytools_initialize() == 1 else { throw .last("inotify_init") }
    for number in try Self.instances().subtracting(before) {
      // The library waits with select(2), which reads beyond its set from 1024 on.
      guard number < FD_SETSIZE else {
        inotifytools_cleanup()
        throw SystemError(ERANGE, "inotify_init")
      }
      // The library does not ask for close-on-exec.
      try checked("fcntl F_SETFD") { clearOnExec(number) }
    }
  }

  /// The descriptors of this process that are inotify instances.
  private static func instances() throws(SystemError) -> Set<CInt> {
    let folder: BytePath = "/proc/self/fd"
    var found: Set<CInt> = []
    for entry in try Directory.entries(of: folder) {
      guard let number = CInt(entry.name.lossyText) else { continue }
      var target = [CChar](repeating: 0, count: 64)
      let length = readlink(folder.appending(entry.name).nulTerminated, &target, target.count)
      let text = target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
      if text.elementsEqual("anon_inode:inotify".utf8) { found.insert(number) }
    }
    return found
  }

  /// Watches one open directory, and gives the watch's number: a known one if the same inode is watched.
  ///
  /// The directory is named by its descriptor, so that it is the one that was opened, whatever has
  /// become of its path since.
  ///
  /// - Parameters:
  ///   - directory: opened without following a symbolic link.
  ///   - path: for errors.
  ///   - mask: see inotify(7).
  /// - Returns: the kernel's number of the watch.
  /// - Throws: `ENOSPC` at the watch limit; `EACCES` where it may not be read.
  func watch(
    _ directory: FileDescriptor,
    at path: BytePath,
    for mask: UInt32
  ) throws(SystemError) -> CInt {
    do {
      try FaultPlan.current.pass("inotify_add_watch")
    } catch {
      throw SystemError(error.errno, error.operation, path)
    }
    let spelling = unusedSpelling(of: BytePath("/proc/self/fd/\(directory.rawValue)"))
    guard inotifytools_watch_file(spelling.nulTerminated, CInt(bitPattern: mask)) == 1 else {
      // Nothing has run since the system call, so errno is still its.
      throw .last("inotify_add_watch", path)
    }
    let watch = Self.entry(spelling)
    guard watch > 0 else { throw SystemError(ENOMEM, "inotify_add_watch", path) }
    return watch
  }

  /// Ends a watch.
  ///
  /// One that the kernel has ended already stays in the library's table.
  func remove(_ watch: CInt) {
    if inotifytools_remove_watch_by_wd(watch) == 0 { deadEntries += 1 }
  }

  /// Counts a watch that the kernel has ended by itself: the library keeps its entry.
  func noteDeadEntry() {
    deadEntries += 1
  }

  /// Waits for the next event, without limit.
  func next() throws(SystemError) -> Event {
    while true {
      guard let event = inotifytools_next_event(-1) else {
        let error = SystemError.last("inotify read")
        if error.errno == EINTR { continue }
        throw error
      }
      let header = event.pointee
      let name = UnsafeRawBufferPointer(
        start: UnsafeRawPointer(event).advanced(by: MemoryLayout<inotify_event>.size),
        count: Int(header.len)
      )
      return Event(
        watch: header.wd,
        mask: header.mask,
        cookie: header.cookie,
        name: BytePath(name)
      )
    }
  }

  /// The path, or another way to write it if the library's table has an entry of that name.
  ///
  /// The count is written in binary before the last part, `//` for 0 and `/.` for 1: neither changes
  /// where the path leads.
  private func unusedSpelling(of path: BytePath) -> BytePath {
    if Self.entry(path) == -1 { return path }
    spellings += 1
    var bytes = path.parent.bytes
    var rest = spellings
    while rest > 0 {
      bytes += rest & 1 == 1 ? Array("/.".utf8) : Array("//".utf8)
      rest >>= 1
    }
    return BytePath(bytes + Array("/".utf8) + path.lastComponent.bytes)
  }

  /// The watch of an entry of the library's table; -1 if there is none.
  private static func entry(_ spelling: BytePath) -> CInt {
    // It writes directories with a slash at the end, unless they were gone when it looked.
    let watch = inotifytools_wd_from_filename(spelling.addingSuffix("/").nulTerminated)
    return watch == -1 ? inotifytools_wd_from_filename(spelling.nulTerminated) : watch
  }
}

private func clearOnExec(_ number: CInt) -> CInt {
  // fcntl(2) is variadic in C; Glibc's overlay has this form of it.
  fcntl(number, F_SETFD, FD_CLOEXEC)
}
