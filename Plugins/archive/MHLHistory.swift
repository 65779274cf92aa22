import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// The ASC MHL history of one folder: its `ascmhl` folder.
///
/// Generations are only added. Whatever a crash leaves, the folder has the history with or without the new
/// generation: the next chain is on the disk before its generation gets a name, and takes the old one's place
/// afterwards; who comes next finishes that.
struct MHLHistory {
  static let folderName: BytePath = "ascmhl"
  /// A file that is larger is not one of a history, in bytes.
  static let largest = 256 << 20

  /// The folder that the history tells of.
  let unit: BytePath

  var place: BytePath { unit.appending(Self.folderName) }
  private var chainPath: BytePath { place.appending(MHLChain.fileName) }
  private var nextChainPath: BytePath { place.appending(".handoff-chain.part") }

  /// What the history has of a path.
  enum Standing: Hashable {
    case unlisted
    case same(generation: Int)
    case other
  }

  /// A generation that is on the disk.
  struct Added: Hashable {
    var number: Int
    var path: BytePath
  }

  /// The history of a copy: the nearest that there is between its folder and the unit, else the unit's.
  static func nearest(to folder: BytePath, unit: BytePath) throws(SystemError) -> MHLHistory {
    var candidate = folder
    while candidate != unit, candidate.isInside(unit) {
      let history = MHLHistory(unit: candidate)
      if try FileStatus.of(history.place) != nil { return history }
      candidate = candidate.parent
    }
    return MHLHistory(unit: unit)
  }

  /// What the history has of a path, relative to its folder, compared with a file's hashes.
  func standing(of path: BytePath, _ hashes: MHLHashes) throws -> Standing {
    guard try exists() else { return .unlisted }
    return try MHLContents(place).standing(of: path, hashes)
  }

  /// Adds a generation with these files.
  ///
  /// Those that this handoff's generation has already are left out: after a crash it is not told twice.
  ///
  /// - Returns: the generation, or the one that was there before.
  /// - Throws: ``MHLProblem`` for a history that was altered or is damaged; it is not gone on with.
  func add(_ entries: [MHLGeneration.Entry], handoffID: String, now: Timestamp) throws -> Added {
    var generation = MHLGeneration(
      entries: entries,
      handoffID: handoffID,
      host: Self.hostName(),
      made: now
    )
    while true {
      try Self.remove(temporary(handoffID))
      if try !exists(), let added = try create(generation) { return added }
      let lock = try MHLLock(place)
      defer { lock.release() }
      try finishInterrupted()
      let contents = try MHLContents(place)
      if let listed = contents.reduce(&generation) {
        // Who added it may have been killed before its names were on the disk.
        try Directory.sync(place)
        try Directory.sync(unit)
        return listed
      }
      do {
        return try append(generation, to: contents.chain)
      } catch {
        ArchiveError.logged("tidying \(place)") { try finishInterrupted() }
        throw error
      }
    }
  }

  private func exists() throws -> Bool {
    guard let status = try FileStatus.of(place) else { return false }
    guard status.kind == .directory else { throw MHLProblem("ascmhl is no folder") }
    return try !Directory.entries(of: place).isEmpty
  }

  /// Begins a history: as a whole, under another name before; nil if somebody else has begun it meanwhile.
  private func create(_ generation: MHLGeneration) throws -> Added? {
    let temporary = temporary(generation.handoffID)
    defer { ArchiveError.logged("removing \(temporary)") { try Self.remove(temporary) } }
    try Directory.create(temporary)
    let name = generation.fileName(1, folder: unit.lastComponent)
    let document = try Self.document(generation)
    let link = MHLChain.Link(number: 1, name: name, c4: try MHLHashes.c4(of: document))
    try Self.write(document, to: temporary.appending(name))
    try Self.write(MHLChain().document(adding: link), to: temporary.appending(MHLChain.fileName))
    try Directory.sync(temporary)
    do throws(SystemError) {
      try DurableFile.rename(temporary, to: place)
    } catch {
      guard [EEXIST, ENOTEMPTY].contains(error.errno) else { throw error }
      return nil
    }
    try Directory.sync(unit)
    return Added(number: 1, path: place.appending(name))
  }

  private func temporary(_ handoffID: String) -> BytePath {
    unit.appending(".handoff-\(handoffID).mhl")
  }

  private func append(_ generation: MHLGeneration, to chain: MHLChain) throws -> Added {
    let number = chain.nextNumber
    let name = generation.fileName(number, folder: unit.lastComponent)
    let path = place.appending(name)
    let document = try Self.document(generation)
    let link = MHLChain.Link(number: number, name: name, c4: try MHLHashes.c4(of: document))
    let temporary = place.appending(".handoff-generation.part")
    try Self.write(document, to: temporary)
    try Self.write(chain.document(adding: link), to: nextChainPath)
    try Directory.sync(place)
    try DurableFile.rename(temporary, to: path)
    try Directory.sync(place)
    try DurableFile.rename(nextChainPath, to: chainPath)
    try Directory.sync(place)
    return Added(number: number, path: path)
  }

  /// Finishes, or takes back, what a crash has interrupted; to be called under the lock.
  private func finishInterrupted() throws {
    if try FileStatus.of(nextChainPath) != nil {
      if try isNextChainDue() {
        try DurableFile.rename(nextChainPath, to: chainPath)
        try Directory.sync(place)
      } else {
        try DurableFile.unlink(nextChainPath)
      }
    }
    try DurableFile.unlink(place.appending(".handoff-generation.part"))
  }

  /// The generation that the next chain was written for has its name, and nothing else has happened since.
  private func isNextChainDue() throws -> Bool {
    let next = try MHLContents.bytes(nextChainPath)
    do {
      guard let link = try MHLChain(next).links.last else { return false }
      let chain = try MHLChain(try MHLContents.bytes(chainPath))
      return try chain.document(adding: link) == next
        && FileStatus.of(place.appending(link.name)) != nil
    } catch is MHLScanner.Malformed {
      return false
    }
  }

  private static func document(_ generation: MHLGeneration) throws -> [UInt8] {
    guard let document = generation.document() else {
      throw MHLProblem("a file's name cannot be written in XML")
    }
    return document
  }

  private static func write(_ bytes: [UInt8], to path: BytePath) throws(SystemError) {
    let file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o644)
    try file.write(bytes)
    try file.sync()
    try file.close()
  }

  private static func remove(_ folder: BytePath) throws {
    guard try FileStatus.of(folder) != nil else { return }
    for entry in try Directory.entries(of: folder) {
      try DurableFile.unlink(folder.appending(entry.name))
    }
    try checked("rmdir", folder) { rmdir(folder.nulTerminated) }
  }

  private static func hostName() -> String {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// A history that was altered, is damaged, or cannot be gone on with.
struct MHLProblem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
