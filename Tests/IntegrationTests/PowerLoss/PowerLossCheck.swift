import Digests
import Glibc
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import LinuxSystem
import Paths
import SQLite

/// Looks for what a state of the disk breaks of what was promised.
struct PowerLossCheck {
  let promises: Promises
  /// The digests of the exports, in hexadecimal digits, by inode number.
  let sources: [UInt64: String]

  /// Opens the ledger of a state as a broker does, and compares; returns the faults in words.
  func faults(_ image: DiskImage) async throws -> [String] {
    let objects = try objects(image)
    var faults = objects.faults
    try await withTemporaryDirectory(inMemory: true) { folder in
      let state = folder.appending("state")
      try image.write("state", to: state)
      try Directory.create(state)
      if try !Ledger.hasTraces(in: state), !objects.digests.isEmpty {
        faults.append("a library with objects and no ledger: the broker refuses to begin")
      }
      do {
        let now: @Sendable () -> Timestamp = { Timestamp(milliseconds: 1_800_000_000_000) }
        let ledger = try await Ledger.open(directory: state, logger: .silent, now: now)
        let chain = try await ledger.verifyChain()
        if case .intact = chain {} else { faults.append("the chain is \(chain)") }
        faults += try missing(in: state, objects.digests)
        try await ledger.close()
      } catch {
        faults.append("the ledger does not open: \(error)")
      }
    }
    return faults
  }

  /// The objects whose bytes are what their names say; others are faults.
  private func objects(_ image: DiskImage) throws -> (digests: Set<String>, faults: [String]) {
    var digests: Set<String> = []
    var faults: [String] = []
    for shard in image.entries("library/objects") ?? [] where image.isFolder(shard.node) {
      let folder = BytePath("library/objects").appending(shard.name)
      for object in image.entries(folder) ?? [] where object.name.bytes.count == 64 {
        let digest = try Self.hexDigits(SHA256.digest(of: image.bytes(of: object.node)))
        if digest == object.name.lossyText {
          digests.insert(digest)
        } else {
          faults.append("an object is short or wrong: \(object.name)")
        }
      }
    }
    return (digests, faults)
  }

  /// What the ledger does not have of what was promised.
  private func missing(in state: BytePath, _ objects: Set<String>) throws -> [String] {
    let ledger = try Connection(state.appending("ledger.db"), .read, busyTimeout: .seconds(1))
    var faults = try ledger.damage().map { "the ledger is damaged: \($0)" }
    var identifiers: Set<String> = []
    var digests: Set<String> = []
    try ledger.forEach(Self.assets) { row in
      let digest = Self.hexDigits(try row.blob(1))
      identifiers.insert(try row.text(0))
      digests.insert(digest)
      if !objects.contains(digest) { faults.append("an asset without its object: \(digest)") }
    }
    let submitted = Set(try ledger.rows(Self.submitted) { try $0.integer(0) })
    let consumed = Set(try ledger.rows(Self.consumed) { try $0.integer(0) })
    faults += promises.assets.subtracting(identifiers).map { "told of, and missing: \($0)" }
    faults += promises.submitted.subtracting(submitted).map { "sent, and not on record: h\($0)" }
    faults += promises.results.subtracting(consumed).map { "answered, and not on record: h\($0)" }
    for inode in promises.removed {
      if let digest = sources[inode], !digests.contains(digest) {
        faults.append("its source is gone, and it is missing: \(digest)")
      }
    }
    return faults
  }

  static func hexDigits(_ bytes: [UInt8]) -> String {
    bytes.map { String(Int($0) + 256, radix: 16).suffix(2) }.joined()
  }

  private static let assets = SQL("SELECT identifier, digest FROM assets WHERE status = 'present'")
  private static let submitted = SQL(
    "SELECT DISTINCT handoff FROM events WHERE to_status = 'submitted'"
  )
  private static let consumed = SQL("SELECT DISTINCT handoff FROM received_results")
}
