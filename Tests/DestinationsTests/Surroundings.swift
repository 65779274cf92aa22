import Destinations
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// What a broker has around a destination: a state folder with a ledger and a socket, a library with a
/// granted asset, and the destination's folders.
struct Surroundings {
  let root: BytePath
  let records = Captured<LogRecord>()
  let support: ContainmentSupport
  /// Is listened on as long as this lives.
  private let socket: FileDescriptor

  var ledger: BytePath { root.appending("state/ledger.db") }
  var socketPath: BytePath { root.appending("state/socket") }
  var work: BytePath { root.appending("state/work/hostile") }
  var grants: BytePath { root.appending("library/grants/hostile") }
  var asset: BytePath { grants.appending("clip.mp4") }
  var archive: BytePath { root.appending("archive") }

  static let assetText = "the bytes of a video"

  /// Makes all that in a temporary folder and takes it away again.
  static func with(
    containment: Bool = true,
    _ body: (Surroundings) async throws -> Void
  ) async throws {
    let support =
      containment
      ? await ContainmentSupport.find(searchPath: CommandSearch.defaultPath)
      : ContainmentSupport.none(reason: "not in this test")
    try await withTemporaryDirectory { root in
      try await body(Surroundings(root, support))
    }
  }

  private init(_ root: BytePath, _ support: ContainmentSupport) throws {
    self.root = root
    self.support = support
    for name in ["state/work/hostile", "library/grants/hostile", "library/objects", "archive"] {
      try Directory.create(root.appending(name))
    }
    try Self.write("secret", to: root.appending("state/ledger.db"))
    let object = root.appending("library/objects/1")
    try Self.write(Self.assetText, to: object)
    // Writable by its owner: only containment stops a receiver.
    #expect(chmod(object.nulTerminated, 0o644) == 0)
    try DurableFile.link(object, to: root.appending("library/grants/hostile/clip.mp4"))
    socket = try UnixSocket.listen(root.appending("state/socket"))
  }

  private static func write(_ text: String, to path: BytePath) throws {
    try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC).write(Array(text.utf8))
  }

  func launch(
    _ transport: DestinationSettings.Transport,
    _ command: [String],
    _ change: (inout DestinationSettings) -> Void = { _ in }
  ) throws -> ReceiverLaunch {
    let name = try #require(DestinationName("hostile"))
    var settings = DestinationSettings(name: name, transport: transport, command: command)
    settings.read = try Self.runtimeFolders()
    settings.write = [archive]
    change(&settings)
    let host = ReceiverHost(
      programs: try productsFolder(),
      environment: [
        "PATH": CommandSearch.defaultPath, "SECRET": "s", "GIVEN": "g", "TZ": "UTC",
      ],
      support: support,
      system: try SystemLayout.current(),
      hidden: [root.appending("state"), root.appending("library")],
      logger: Logger(threshold: .debug, sink: records.append)
    )
    return ReceiverLaunch(
      settings: settings,
      host: host,
      folders: ReceiverFolders(work: work, grants: grants)
    )
  }

  /// A receiver that is a line of shell.
  func shell(_ line: String, _ change: (inout DestinationSettings) -> Void = { _ in }) throws
    -> ExecReceiver
  {
    ExecReceiver(
      launch: try launch(.exec, ["sh", "-c", line], change),
      grace: .milliseconds(200)
    )
  }

  /// The folder of the Swift runtime, which a debug build needs when it is contained.
  static func runtimeFolders() throws -> [BytePath] {
    let maps = try FileDescriptor.open("/proc/self/maps", O_RDONLY).readAll(limit: 10_000_000)
    let line = String(decoding: maps, as: UTF8.self).split(separator: "\n")
      .first { $0.hasSuffix("/libswiftCore.so") }
    guard let line, let slash = line.firstIndex(of: "/") else { return [] }
    return [BytePath(String(line[slash...])).parent]
  }

  static func request(_ token: String = "token-1.abc_DEF") throws -> HandoffRequest {
    let identifier = try #require(
      LocalIdentifier("69D53A4B-8F24-8D7A-9C1E-3A5B7C9D0E1F/L0/001")
    )
    return HandoffRequest(
      localIdentifiers: [identifier],
      state: try #require(StateToken(token)),
      title: "A title"
    )
  }
}

extension HandoffResult {
  var output: [String: JSONValue]? {
    guard case .success(let output) = outcome else { return nil }
    return output
  }

  var error: ResultError? {
    guard case .failure(let error) = outcome else { return nil }
    return error
  }
}

/// bubblewrap is there; says so where it is not.
func bubblewrapIsInstalled() -> Bool {
  if CommandSearch.find("bwrap", on: CommandSearch.defaultPath) != nil { return true }
  print("Skipped: bubblewrap is not installed.")
  return false
}
