import Glibc
import LinuxSystem
import Paths

/// A history as it is on the disk, each generation compared with the chain.
struct MHLContents {
  let chain: MHLChain
  private let place: BytePath
  private let generations: [(number: Int, path: BytePath, read: MHLGeneration.Read)]

  /// - Throws: ``MHLProblem`` if the chain is missing or malformed, or a generation is missing, was altered, or
  ///   is not listed.
  init(_ place: BytePath) throws {
    self.place = place
    let chainPath = place.appending(MHLChain.fileName)
    guard try FileStatus.of(chainPath) != nil else { throw MHLProblem("its chain is missing") }
    do {
      chain = try MHLChain(try Self.bytes(chainPath))
      generations = try chain.links.map { link in
        let path = place.appending(link.name)
        guard try FileStatus.of(path) != nil else {
          throw MHLProblem("generation \(link.name) is missing")
        }
        let document = try Self.bytes(path)
        guard try MHLHashes.c4(of: document) == link.c4 else {
          throw MHLProblem("generation \(link.name) was altered")
        }
        return (link.number, path, try MHLGeneration.read(document))
      }
    } catch is MHLScanner.Malformed {
      throw MHLProblem("its chain, or a generation, cannot be read")
    }
    let listed = Set(chain.links.map(\.name))
    for entry in try Directory.entries(of: place) {
      let name = entry.name.bytes
      // Finder leaves `._` files beside what it copies.
      guard name.suffix(4).elementsEqual(".mhl".utf8), !name.starts(with: "._".utf8) else {
        continue
      }
      if !listed.contains(entry.name) {
        throw MHLProblem("generation \(entry.name) is not in its chain")
      }
    }
  }

  static func bytes(_ path: BytePath) throws(SystemError) -> [UInt8] {
    try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW).readAll(limit: MHLHistory.largest)
  }

  /// What the history has of a path: the first hash of each format counts.
  func standing(of path: BytePath, _ hashes: MHLHashes) -> MHLHistory.Standing {
    var known: [String: String] = [:]
    var first: Int?
    for generation in generations {
      guard let listed = generation.read.hashes[path] else { continue }
      first = first ?? generation.number
      known.merge(listed) { old, _ in old }
    }
    guard let first else { return .unlisted }
    let compared = [
      known["c4"].map { $0 == hashes.c4 }, known["xxh128"].map { $0 == hashes.xxh128 },
    ]
    // Without a hash that can be compared nothing is known: so it is not the same.
    let isSame = compared.contains(true) && !compared.contains(false)
    return isSame ? .same(generation: first) : .other
  }

  /// Marks what the history has, leaves out what the handoff's own generation has, and takes over what is ignored.
  ///
  /// - Returns: the handoff's own generation, if nothing is left to add.
  func reduce(_ generation: inout MHLGeneration) -> MHLHistory.Added? {
    let comment = MHLGeneration.comment(generation.handoffID)
    let own = generations.filter { $0.read.comment == comment }
    generation.entries = generation.entries.compactMap { entry in
      var entry = entry
      guard case .same = standing(of: entry.path, entry.hashes) else { return entry }
      entry.isVerified = true
      return own.contains { $0.read.hashes[entry.path] != nil } ? nil : entry
    }
    let former = generations.last?.read.ignored ?? []
    generation.ignored = former + MHLGeneration.ignored.filter { !former.contains($0) }
    guard generation.entries.isEmpty, let last = own.last else { return nil }
    return MHLHistory.Added(number: last.number, path: last.path)
  }
}

/// Keeps others away from a history while it is written.
final class MHLLock: Sendable {
  private let file: FileDescriptor

  /// Waits until it is free; see flock(2).
  init(_ place: BytePath) throws {
    let folder = try FileDescriptor.open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    do throws(SystemError) {
      try checked("flock", place) { flock(folder.rawValue, LOCK_EX) }
      file = folder
    } catch {
      guard error.errno == EBADF else { throw error }
      // NFS locks only what is open for writing, and a folder cannot be.
      let path = place.appending(".handoff-lock")
      let lock = try FileDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o644)
      try checked("flock", path) { flock(lock.rawValue, LOCK_EX) }
      file = lock
    }
  }

  /// Lets others go on.
  func release() {
    ArchiveError.logged("unlocking") { try file.close() }
  }
}
