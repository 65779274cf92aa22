import DropFolders
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

/// A large tree of directories: how long it takes until all is watched and listed, to do so anew when
/// the root was away, and to list it once in a folder that is polled; and the memory that it takes.
enum WatchBenchmark {
  static let directories = 50_000
  private static let directoriesPerDirectory = 36

  /// What is measured, as it is printed.
  private struct Figures: Codable {
    var directories: Int
    var files: Int
    var watches = 0
    /// Until the watcher says that it has started.
    var startSeconds = 0.0
    /// Until all was watched and listed anew, as after an overflow too.
    var rescanSeconds = 0.0
    /// One listing of the folder when it is polled.
    var pollSeconds = 0.0
    /// Kibibytes of the process in memory: before it watches, with all watched, and at most.
    var residentBefore = 0
    var residentWatching = 0
    var residentPeak = 0
    var bytesPerDirectory = 0

    enum CodingKeys: String, CodingKey {
      case directories
      case files
      case watches
      case startSeconds = "start_s"
      case rescanSeconds = "rescan_s"
      case pollSeconds = "poll_s"
      case residentBefore = "rss_before_kib"
      case residentWatching = "rss_watching_kib"
      case residentPeak = "rss_peak_kib"
      case bytesPerDirectory = "bytes_per_directory"
    }
  }

  /// - Parameters:
  ///   - count: directories in the tree.
  ///   - folder: an empty one.
  static func run(_ count: Int, in folder: BytePath) async throws {
    let drop = folder.appending("drop")
    var figures = try await BlockingThread("bench.tree").run { () throws(SystemError) in
      try makeTree(drop, count)
    }
    let control = folder.appending("control")
    let keeper = try await LeaseKeeper()
    var settings = DropFolderSettings(path: drop)
    figures.residentBefore = try memory("VmRSS:")
    try await watching(settings, control, keeper) { watcher, start in
      figures.startSeconds = start
      figures.watches = try await report(of: watcher).watches
      figures.residentWatching = try memory("VmRSS:")
      figures.rescanSeconds = try await regain(watcher, drop)
    }
    figures.residentPeak = try memory("VmHWM:")
    settings.watch = .poll
    try await watching(settings, control, keeper) { watcher, _ in
      figures.pollSeconds = try await report(of: watcher).listingTime / .seconds(1)
    }
    let grown = figures.residentWatching - figures.residentBefore
    figures.bytesPerDirectory = grown * 1024 / figures.directories
    try show(figures)
  }

  /// A tree with one small file in each directory.
  private static func makeTree(
    _ drop: BytePath,
    _ count: Int
  ) throws(SystemError) -> Figures {
    try Directory.create(drop)
    var figures = Figures(directories: 1, files: 0)
    var level = [drop]
    while figures.directories < count {
      var next: [BytePath] = []
      for parent in level {
        for index in 0..<directoriesPerDirectory where figures.directories < count {
          let directory = parent.appending("directory-\(index)")
          try Directory.create(directory)
          // A temporary name: it is listed and kept, and asks for no look.
          let file = directory.appending("export-\(index).mp4.part")
          try FileDescriptor.open(file, O_WRONLY | O_CREAT).close()
          next.append(directory)
          figures.directories += 1
          figures.files += 1
        }
      }
      level = next
    }
    return figures
  }

  /// Runs a watcher with nothing to import, and gives it to the work with the seconds of its start.
  private static func watching(
    _ settings: DropFolderSettings,
    _ control: BytePath,
    _ keeper: LeaseKeeper,
    _ work: (DropFolderWatcher, Double) async throws -> Void
  ) async throws {
    let unprobed = Evidence(.probe, passed: false, "nothing is probed here")
    let watcher = DropFolderWatcher(
      folders: [settings],
      control: control,
      keeper: keeper,
      surroundings: DropFolderWatcher.Surroundings(
        probe: { _, _ in ProbeVerdict(.failed, evidence: [unprobed]) },
        known: { _, _ in nil },
        importer: { _ in .changed },
        observer: { _ in },
        now: { Timestamp(milliseconds: 0) }
      ),
      logger: .silent
    )
    let clock = ContinuousClock()
    let start = clock.now
    try await withThrowingTaskGroup { group in
      group.addTask { try await watcher.run() }
      _ = await watcher.started()
      try await work(watcher, (clock.now - start) / .seconds(1))
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  private static func report(of watcher: DropFolderWatcher) async throws -> FolderReport {
    guard let report = await watcher.folders().first else { throw SystemError(ENOENT, "folders") }
    return report
  }

  /// Takes the root away and brings it back; gives the seconds in which all was watched and listed.
  private static func regain(_ watcher: DropFolderWatcher, _ drop: BytePath) async throws -> Double
  {
    let away = drop.addingSuffix(".away")
    try DurableFile.rename(drop, to: away)
    try await wait(for: .offline, watcher)
    try DurableFile.rename(away, to: drop)
    try await wait(for: .events, watcher)
    return try await report(of: watcher).listingTime / .seconds(1)
  }

  private static func wait(for mode: FolderMode, _ watcher: DropFolderWatcher) async throws {
    let found = try await poll(within: .seconds(600)) {
      try await report(of: watcher).mode == mode ? mode : nil
    }
    guard found != nil else { throw SystemError(ETIMEDOUT, "the folder's mode") }
  }

  /// Kibibytes, by the name of a line in `/proc/self/status`.
  private static func memory(_ field: String) throws -> Int {
    let file = try FileDescriptor.open("/proc/self/status", O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 65_536), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix(field) }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  private static func show(_ figures: Figures) throws {
    func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
    print(
      "watch: \(figures.watches) of \(figures.directories) directories watched and listed in "
        + "\(rounded(figures.startSeconds)) s, anew in \(rounded(figures.rescanSeconds)) s, "
        + "listed when polled in \(rounded(figures.pollSeconds)) s; "
        + "\(figures.residentWatching / 1024) MiB in memory (\(figures.residentPeak / 1024) at most), "
        + "\(figures.bytesPerDirectory) bytes a directory"
    )
    print(String(decoding: try WireCoder.encode(figures), as: UTF8.self))
  }
}
