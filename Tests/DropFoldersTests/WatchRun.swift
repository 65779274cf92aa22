import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

/// A real watcher in a process of its own, and the drop folder that it watches.
final class WatchRun {
  /// One line that it has printed.
  struct Line {
    let members: JSONValue

    subscript(name: String) -> String? { members[name]?.text }

    func number(_ name: String) -> Int64? { members[name]?.integer }

    /// The file's path.
    var path: BytePath { BytePath([UInt8](hexDigits: self["path"] ?? "") ?? []) }
    /// The further folders of an answer to `folders`.
    var others: [Line] {
      guard case .array(let others) = members["others"] else { return [] }
      return others.map { Line(members: $0) }
    }
    /// Microseconds on the monotonic clock.
    var at: Int64 { members["at_us"]?.integer ?? 0 }
  }

  let drop: BytePath
  let files: DropFiles
  private let root: BytePath
  private let process: SpawnedProcess
  private let input: FileDescriptor
  private let output: FileDescriptor
  private var framer = LineFramer()
  private var offset: Int64 = 0
  private(set) var lines: [Line] = []

  private init(
    _ root: BytePath,
    _ process: SpawnedProcess,
    _ input: FileDescriptor,
    _ output: FileDescriptor
  ) {
    self.root = root
    self.drop = root.appending("drop")
    self.files = DropFiles(folder: drop)
    self.process = process
    self.input = input
    self.output = output
  }

  /// Starts it, and waits until it watches.
  ///
  /// - Parameters:
  ///   - settings: `quiet=200` and so on.
  ///   - also: further drop folders, beside or below `drop`.
  ///   - environment: `NAME=VALUE`, besides the path.
  ///   - prepare: fills the drop folder beforehand.
  ///   - wrap: what the program is started through, for example `unshare`.
  ///   - inMemory: on tmpfs, for tests that make very many files or folders.
  ///   - body: the test; the process ends with it.
  /// - Throws: what the test throws, or why the watcher did not start.
  nonisolated(nonsending) static func with(
    _ settings: [String] = ["quiet=100"],
    also: [BytePath] = [],
    environment: [String] = [],
    prepare: (BytePath) throws -> Void = { _ in },
    through wrap: [String] = [],
    inMemory: Bool = false,
    _ body: nonisolated(nonsending) (WatchRun) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: inMemory) { root in
      try checked("chmod") { chmod(root.nulTerminated, 0o755) }
      let drop = root.appending("drop")
      try Directory.create(drop)
      for other in also { try Directory.create(root.appending(other)) }
      try prepare(drop)
      // Owned by whoever it runs as.
      let state = root.appending("state")
      try Directory.create(state, permissions: 0o777)
      try checked("chmod") { chmod(state.nulTerminated, 0o777) }
      let log = root.appending("lines")
      let output = try FileDescriptor.open(log, O_RDWR | O_CREAT | O_APPEND, mode: 0o666)
      let (near, far) = try UnixSocket.pair()
      let program = try productsFolder().appending("watch-fixture")
      let words =
        wrap.map { BytePath($0) } + [program, drop, state.appending("control")]
        + settings.map { BytePath($0) }
        + also.map { BytePath(Array("also=".utf8) + root.appending($0).bytes) }
      var command = ProcessCommand(
        words[0],
        arguments: Array(words.dropFirst()),
        environment: (["PATH=/usr/bin:/bin"] + environment).map { BytePath($0) }
      )
      command.descriptors = [0: far, 1: output]
      let process = try await SpawnedProcess.spawn(command)
      try far.close()
      let run = WatchRun(root, process, near, output)
      guard try await run.line(where: { $0["event"] == "started" }) != nil else {
        throw TestSupportError("the watcher did not start: \(run.lines.map(\.members))")
      }
      do {
        try await body(run)
      } catch {
        _ = await process.terminate(grace: .zero)
        throw error
      }
      try near.close()
      _ = await process.terminate(grace: .seconds(5))
    }
  }

  // MARK: What it says

  /// The first line that fits, also of those that were read before; nil after twenty seconds.
  nonisolated(nonsending) func line(
    within limit: Duration = .seconds(20),
    where fits: (Line) -> Bool
  ) async throws -> Line? {
    var looked = 0
    return try await poll(within: limit) {
      try read()
      defer { looked = lines.count }
      return lines[looked...].first(where: fits)
    }
  }

  /// Waits for a state of a file, by its path below the drop folder.
  nonisolated(nonsending) func reaches(
    _ state: String,
    _ name: BytePath,
    within limit: Duration = .seconds(20)
  ) async throws -> Bool {
    let path = drop.appending(name)
    let found = try await line(within: limit) { $0["state"] == state && $0.path == path }
    return found != nil
  }

  /// Waits until all of these are imported, and gives the rest that is not.
  nonisolated(nonsending) func missing(
    of names: [BytePath],
    within limit: Duration = .seconds(40)
  ) async throws -> Set<BytePath> {
    var rest = Set(names.map { drop.appending($0) })
    var looked = 0
    _ = try await poll(within: limit, every: .milliseconds(50)) { () -> Bool? in
      try read()
      for line in lines[looked...] where line["state"] == "imported" { rest.remove(line.path) }
      looked = lines.count
      return rest.isEmpty ? true : nil
    }
    return rest
  }

  /// How often each file was imported by now, by its path below the drop folder; only what the importer
  /// did, not what was known already.
  var imports: [BytePath: Int] {
    var counts: [BytePath: Int] = [:]
    for line in lines where line["state"] == "imported" && line["reason"] == nil {
      counts[line.path.relative(to: drop) ?? line.path, default: 0] += 1
    }
    return counts
  }

  func states(of name: BytePath) -> [String] {
    let path = drop.appending(name)
    return lines.filter { $0["event"] == "change" && $0.path == path }.compactMap { $0["state"] }
  }

  /// Asks, and waits for the answer.
  nonisolated(nonsending) func ask(_ question: String, _ name: BytePath? = nil) async throws
    -> Line?
  {
    try read()
    let before = lines.count
    let argument = name.map { " " + drop.appending($0).bytes.hexDigits } ?? ""
    try input.write(Array("\(question)\(argument)\n".utf8))
    return try await poll {
      try read()
      return lines[before...].first { $0["event"] == question }
    }
  }

  /// Waits until so many directories are watched: old events may still be in the queue.
  nonisolated(nonsending) func watches(become count: Int64) async throws -> Bool {
    try await poll(every: .milliseconds(100)) {
      try await ask("folders")?.number("watches") == count ? true : nil
    } ?? false
  }

  /// Waits until the answer to `folders` fits.
  nonisolated(nonsending) func folders(
    within limit: Duration = .seconds(20),
    where fits: (Line) -> Bool
  ) async throws -> Line? {
    try await poll(within: limit, every: .milliseconds(100)) {
      guard let line = try await ask("folders"), fits(line) else { return nil }
      return line
    }
  }

  /// Asks it to end, and waits until it has.
  nonisolated(nonsending) func ends(within limit: Duration) async throws -> Bool {
    try input.close()
    return try await poll(within: limit) { process.exitStatus.map { _ in true } } ?? false
  }

  /// The watcher's process.
  var processID: Int32 { process.id }

  /// Kibibytes that the process has in memory.
  func residentSize() throws -> Int {
    let file = try FileDescriptor.open(BytePath("/proc/\(process.id)/status"), O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 65_536), as: UTF8.self)
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
  }

  /// Seconds of processor time that the process has used.
  func processorTime() throws -> Double {
    let file = try FileDescriptor.open(BytePath("/proc/\(process.id)/stat"), O_RDONLY)
    let text = String(decoding: try file.readAll(limit: 4096), as: UTF8.self)
    // The name, in brackets, may hold anything; user and system time are the 12th and 13th after it.
    let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
    guard fields.count > 12 else { return 0 }
    return Double((Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0))
      / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// Makes folders of fifty names and removes them again, one after the other (case 108).
  nonisolated(nonsending) func makeAndRemove(folders count: Int) async throws {
    try await files.busy { files in
      for index in 0..<count {
        let folder = BytePath("k\(index % 50)")
        try files.makeFolder(folder)
        files.remove(folder)
      }
    }
  }

  func signal(_ signal: CInt) {
    process.signalGroup(signal)
  }

  private func read() throws {
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = try buffer.withUnsafeMutableBytes { try output.read(into: $0, at: offset) }
      if count == 0 { return }
      offset += Int64(count)
      for line in try framer.append(buffer[..<count]) {
        lines.append(Line(members: try WireCoder.decode(JSONValue.self, from: line)))
      }
    }
  }

  /// Beside the drop folder, on its file system.
  func outside(_ name: String) -> BytePath { root.appending(name) }
}
