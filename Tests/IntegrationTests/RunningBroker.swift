import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The release build's broker in a throwaway folder, spoken to as CONTRACT.md has it: by its files, its
/// signals and its command line.
final class RunningBroker: Sendable {
  /// The end of one command.
  struct Ended: Sendable {
    let code: CInt
    let output: [UInt8]
    let errors: String
  }

  let root: BytePath
  let config: BytePath
  private let environment: [BytePath]
  /// Put before the program: for a broker that runs as somebody else.
  private let prefix: [BytePath]
  private let process = Slot()

  /// The built program: `HANDOFF_BIN`, else the package's release build.
  static var program: BytePath {
    if let given = environmentValue("HANDOFF_BIN") { return BytePath(given) }
    let package = BytePath(#filePath).parent.parent.parent
    return package.appending(".build/release/handoff")
  }

  init(
    root: BytePath,
    configuration: String,
    environment: [String] = [],
    prefix: [BytePath] = []
  ) throws {
    self.root = root
    self.prefix = prefix
    config = root.appending("handoff.toml")
    let path = environmentValue("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
    self.environment = ["PATH=\(path)"].map { BytePath($0) } + environment.map { BytePath($0) }
    try Directory.create(exports)
    try DurableFile.write(Array(configuration.utf8), to: config)
  }

  var exports: BytePath { root.appending("exports") }
  var log: BytePath { root.appending("broker.log") }

  /// Starts the broker and waits for its `ready`.
  func start() async throws {
    let isReady = try await launch()
    let end = try tail()
    try #require(isReady, "the broker did not become ready: \(end)")
  }

  /// Starts the broker and waits until it is ready or ends; false where it ended before.
  func launch() async throws -> Bool {
    try #require(access(Self.program.nulTerminated, X_OK) == 0, "build the release first")
    let (reading, writing) = try FileDescriptor.pipe()
    let log = try FileDescriptor.open(log, O_WRONLY | O_CREAT | O_APPEND)
    let words = prefix + [Self.program, "serve", "--config", config]
    var command = ProcessCommand(
      words[0],
      arguments: Array(words.dropFirst()),
      environment: environment
    )
    command.descriptors = [1: writing, 2: log]
    let spawned = try await SpawnedProcess.spawn(command)
    process.set(spawned)
    try writing.close()
    return try await Self.thread.run { try reading.readAll(until: "ready\n") }.contains("ready")
  }

  /// Ends the broker and returns how it ended.
  @discardableResult
  func end(_ signal: CInt) async -> LinuxSystem.ExitStatus? {
    guard let spawned = process.take() else { return nil }
    kill(spawned.id, signal)
    return await spawned.exit()
  }

  /// The broker's process, while it runs.
  var processID: Int32? { process.held?.id }

  /// Sends a signal that does not end the broker.
  func signal(_ signal: CInt) throws {
    guard let spawned = process.held else { throw TestSupportError("no broker runs") }
    kill(spawned.id, signal)
  }

  /// The end of the log.
  func tail() throws -> String {
    let bytes = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 28)
    return String(decoding: bytes.suffix(3000), as: UTF8.self)
  }

  /// Everything that the broker has logged.
  var wholeLog: String {
    get throws {
      let bytes = try FileDescriptor.open(log, O_RDONLY).readAll(limit: 1 << 28)
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Runs one command with this broker's configuration.
  func command(_ words: [BytePath]) async throws -> Ended {
    let (outReading, outWriting) = try FileDescriptor.pipe()
    let (errorReading, errorWriting) = try FileDescriptor.pipe()
    var command = ProcessCommand(
      Self.program,
      arguments: words + ["--config", config],
      environment: environment
    )
    command.descriptors = [1: outWriting, 2: errorWriting]
    let spawned = try await SpawnedProcess.spawn(command)
    try outWriting.close()
    try errorWriting.close()
    // Of its own: commands may run at the same time.
    let (thread, errorThread) = (BlockingThread("test.output"), BlockingThread("test.errors"))
    async let errors = errorThread.run { try errorReading.readAll(limit: 1 << 26) }
    let output = try await thread.run { try outReading.readAll(limit: 1 << 28) }
    guard case .exited(let code) = await spawned.exit() else {
      throw TestSupportError("a command was killed")
    }
    return Ended(
      code: code,
      output: output,
      errors: String(decoding: try await errors, as: UTF8.self)
    )
  }

  /// Runs one command that must succeed and decodes its JSON.
  func json(_ words: BytePath...) async throws -> JSONValue {
    let ended = try await command(words + ["--json"])
    // A cancel that leaves a doubt says so by its exit code, too.
    let isDone = ended.code == 0 || (words.first == "cancel" && ended.code == 5)
    try #require(isDone, "handoff \(words): \(ended.code) \(ended.errors)")
    return try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
  }

  /// Looks until a command's JSON fulfils something.
  func wait(
    _ words: BytePath...,
    within limit: Duration = .seconds(40),
    every interval: Duration = .milliseconds(100),
    until isRight: (JSONValue) -> Bool
  ) async throws -> JSONValue {
    var last = JSONValue.null
    let found = try await poll(within: limit, every: interval) { () -> JSONValue? in
      let ended = try await command(words + ["--json"])
      guard ended.code == 0 else { return nil }
      last = try WireCoder.decode(JSONValue.self, from: ended.output, limit: .max)
      return isRight(last) ? last : nil
    }
    let log = try tail()
    return try #require(found, "in vain: \(words), last \("\(last)".prefix(2000)); \(log)")
  }

  private static let thread = BlockingThread("test.output")
}

extension FileDescriptor {
  /// Reads text until it contains a word or ends.
  fileprivate func readAll(until word: String) throws -> String {
    var text = ""
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    while !text.contains(word) {
      let count = try read(into: buffer)
      if count == 0 { break }
      text += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return text
  }
}

extension JSONValue {
  /// The elements of an array; none for another shape.
  var elements: [JSONValue] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }
}
