import Destinations
import Digests
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// An inbox and assets for it, in a folder that is removed after the test.
struct InboxScene {
  let root: BytePath
  let records = Captured<LogRecord>()

  var inbox: BytePath { root.appending("inbox") }
  var work: BytePath { root.appending("work") }

  /// Runs a test, in a temporary folder or in one that is given.
  static func run(
    in place: BytePath? = nil,
    _ body: nonisolated(nonsending) (InboxScene) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { temporary in
      let scene = InboxScene(root: place ?? temporary)
      try Directory.create(scene.work)
      try Directory.create(scene.root.appending("library"))
      try await body(scene)
    }
  }

  func receiver(
    inbox other: BytePath? = nil,
    _ change: (inout DestinationSettings) -> Void = { _ in }
  ) throws -> FileReceiver {
    let name = try #require(DestinationName("share"))
    var settings = DestinationSettings(name: name, transport: .file, command: [])
    settings.inbox = other ?? inbox
    change(&settings)
    let logger = Logger(threshold: .debug, sink: records.append)
    return FileReceiver(settings: settings, work: work, logger: logger)
  }

  /// An asset of some bytes, as it lies in the library.
  func asset(_ bytes: [UInt8], _ name: BytePath) throws -> InboxAsset {
    let digest = try #require(ContentDigest(try SHA256.digest(of: bytes)))
    let path = root.appending("library").appending(digest.hex)
    try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o444).write(bytes)
    return InboxAsset(
      localIdentifier: LocalIdentifier(digest),
      digest: digest,
      size: Int64(bytes.count),
      path: path,
      name: name
    )
  }

  static func request(_ assets: [InboxAsset]) throws -> HandoffRequest {
    HandoffRequest(
      localIdentifiers: assets.map(\.localIdentifier),
      state: try #require(StateToken("12.abcdefghijklmnopqrstuvwxyz0123456789")),
      title: "A title"
    )
  }

  func deliver(
    _ assets: [InboxAsset],
    handoff: String = "h12",
    _ receiver: FileReceiver? = nil
  ) async throws -> HandoffResult {
    try await (receiver ?? self.receiver()).deliver(
      Self.request(assets),
      handoff: handoff,
      assets: assets
    )
  }

  /// The names in the inbox, in order.
  func names(_ folder: BytePath? = nil) throws -> [BytePath] {
    try Directory.entries(of: folder ?? inbox).map(\.name).sorted()
  }

  /// The names in the inbox that a reader is shown.
  func shown() throws -> [BytePath] { try names().filter { $0.bytes.first != UInt8(ascii: ".") } }

  func bytes(_ name: BytePath) throws -> [UInt8] {
    try FileDescriptor.open(inbox.appending(name), O_RDONLY).readAll(limit: 1 << 28)
  }

  func document(_ name: BytePath) throws -> JSONValue {
    try WireCoder.decode(JSONValue.self, from: bytes(name))
  }

  /// What a manifest says of its files.
  func files(_ manifest: JSONValue) throws -> [JSONValue] {
    guard case .array(let files) = manifest["files"] else {
      throw TestSupportError("no files: \(manifest)")
    }
    return files
  }
}
