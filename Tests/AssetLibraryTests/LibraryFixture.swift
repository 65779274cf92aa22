import AssetLibrary
import Digests
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization

/// A library and a folder of exports, in one temporary folder.
struct LibraryFixture {
  let root: BytePath
  let library: AssetLibrary
  let log = Captured<LogRecord>()

  var path: BytePath { root.appending("library") }
  var exports: BytePath { root.appending("exports") }
  var staging: BytePath { path.appending("staging") }

  init(_ root: BytePath, faults: FaultPlan = FaultPlan(environment: nil)) async throws {
    self.root = root
    try Directory.create(root.appending("exports"))
    let log = self.log
    library = try await AssetLibrary.open(
      at: root.appending("library"),
      logger: Logger { log.append($0) },
      faults: faults
    )
  }

  /// Writes an export the way an exporter does, and returns its path.
  func export(_ name: BytePath, _ bytes: [UInt8]) throws -> BytePath {
    let path = exports.appending(name)
    try writeFile(path, bytes)
    return path
  }

  func importFile(
    _ path: BytePath,
    mode: ImportMode = .copy,
    expecting identity: FileIdentity? = nil,
    isStillGood: @escaping @Sendable () -> Bool = { true }
  ) async throws -> ImportedResource {
    let file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW)
    return try await library.importResource(
      from: file,
      path: path,
      expecting: try identity ?? identityOf(path),
      mode: mode,
      isStillGood: isStillGood
    )
  }

  func object(_ digest: ContentDigest) -> BytePath {
    path.appending("objects").appending(String(digest.hex.prefix(2))).appending(digest.hex)
  }

  /// The names in `staging`.
  func staged() throws -> [BytePath] {
    try Directory.entries(of: staging).map(\.name)
  }

  /// The objects (without records) and their true digests.
  func objects() throws -> [(name: BytePath, digest: String)] {
    let objects = path.appending("objects")
    return try Directory.entries(of: objects).flatMap { shard in
      try Directory.entries(of: objects.appending(shard.name)).compactMap { entry in
        guard entry.name.bytes.count == 64 else { return nil }
        let bytes = try readFile(objects.appending(shard.name).appending(entry.name))
        return (entry.name, try SHA256.digest(of: bytes).hexDigits)
      }
    }
  }
}

/// Runs a test with a fixture in a temporary folder.
func withLibrary(
  faults: FaultPlan = FaultPlan(environment: nil),
  _ body: (LibraryFixture) async throws -> Void
) async throws {
  try await withTemporaryDirectory { root in
    try await body(try await LibraryFixture(root, faults: faults))
  }
}

func writeFile(_ path: BytePath, _ bytes: [UInt8], mode: mode_t = 0o644) throws {
  let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: mode)
  try file.write(bytes)
  try file.close()
}

func readFile(_ path: BytePath) throws -> [UInt8] {
  try FileDescriptor.open(path, O_RDONLY).readAll(limit: 1 << 30)
}

func status(of path: BytePath) throws -> FileStatus? {
  try FileStatus.of(path)
}

func identityOf(_ path: BytePath) throws -> FileIdentity {
  guard let status = try FileStatus.of(path) else { throw SystemError(ENOENT, "stat", path) }
  return status.identity
}

func randomBytes(_ count: Int, seed: UInt64 = 7) -> [UInt8] {
  var generator = SeededGenerator(seed: seed)
  return generator.bytes(count)
}

func contentDigest(_ bytes: [UInt8]) throws -> ContentDigest {
  guard let digest = ContentDigest(try SHA256.digest(of: bytes)) else {
    throw TestSupportError("no digest")
  }
  return digest
}

/// The error that some work ends with.
func libraryError(_ work: () async throws -> Void) async -> LibraryError? {
  do {
    try await work()
    return nil
  } catch {
    return error as? LibraryError
  }
}
