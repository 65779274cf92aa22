import Glibc
import HandoffProtocol
import LinuxSystem
import Paths

extension ObjectStore {
  /// Looks at every name under `objects`.
  func census() throws(LibraryError) -> LibraryCensus {
    try requireAvailable()
    var census = LibraryCensus()
    let shards = Set(layout.shards)
    for entry in try entries(of: layout.objects) {
      let path = layout.objects.appending(entry.name)
      guard entry.kind == .directory, shards.contains(path) else {
        census.strays.append(path)
        continue
      }
      try count(path, into: &census)
    }
    return census
  }

  private func count(_ shard: BytePath, into census: inout LibraryCensus) throws(LibraryError) {
    var objects: [ContentDigest] = []
    var records: Set<ContentDigest> = []
    for entry in try entries(of: shard) {
      let path = shard.appending(entry.name)
      switch StoreLayout.resident(entry.name) {
      case .object(let digest) where layout.object(digest) == path && entry.kind == .regular:
        objects.append(digest)
      case .record(let digest) where layout.record(digest) == path && entry.kind == .regular:
        records.insert(digest)
      case .object, .record, nil:
        census.strays.append(path)
      }
    }
    for digest in objects {
      let path = layout.object(digest)
      let status = try storing(path) { () throws(SystemError) in try FileStatus.of(path) }
      guard let status else { continue }
      census.objects.append(
        LibraryCensus.Object(
          digest: digest,
          path: path,
          size: status.size,
          changed: status.changed,
          hasRecord: records.contains(digest),
          links: Int(status.links)
        )
      )
    }
    census.loneRecords += records.subtracting(objects).sorted { $0.hex < $1.hex }
  }

  /// No object and no record is in any shard, whether `library.json` is there or not.
  func holdsNothing() throws(LibraryError) -> Bool {
    for shard in layout.shards {
      let names = try storing(shard) { () throws(SystemError) in
        try FileStatus.of(shard) == nil ? [] : Directory.entries(of: shard).map(\.name)
      }
      if names.contains(where: { StoreLayout.resident($0) != nil }) { return false }
    }
    return true
  }

  // MARK: What may be nobody's

  func leftovers() throws(LibraryError) -> [Leftover] {
    let census = try census()
    var found = census.objects.map { object in
      Leftover(
        kind: .object,
        path: object.path,
        digest: object.digest,
        size: object.links == 1 ? object.size : 0,
        changed: object.changed,
        hasCompanion: object.hasRecord
      )
    }
    for digest in census.loneRecords {
      if let leftover = try leftover(.record, layout.record(digest), digest) {
        found.append(leftover)
      }
    }
    for entry in try entries(of: layout.staging) where StoreLayout.isStagingName(entry.name) {
      let path = layout.staging.appending(entry.name)
      if let leftover = try leftover(.staging, path, nil) { found.append(leftover) }
    }
    for entry in try entries(of: layout.setAside) where entry.kind == .regular {
      let path = layout.setAside.appending(entry.name)
      if let leftover = try leftover(.setAside, path, nil) { found.append(leftover) }
    }
    return found
  }

  private func leftover(
    _ kind: Leftover.Kind,
    _ path: BytePath,
    _ digest: ContentDigest?
  ) throws(LibraryError) -> Leftover? {
    let status = try storing(path) { () throws(SystemError) in try FileStatus.of(path) }
    return status.map {
      Leftover(
        kind: kind,
        path: path,
        digest: digest,
        size: $0.links == 1 ? $0.size : 0,
        changed: $0.changed,
        hasCompanion: false
      )
    }
  }

  /// Removes a leftover unless it was renewed, or an import has it locked.
  func clear(
    _ leftover: Leftover,
    unchangedSince moment: Int64
  ) throws(LibraryError) -> Bool {
    try exchange.withLock { () throws(LibraryError) in
      try storing(leftover.path) { () throws(SystemError) in
        try faults.pass("library.clear")
        guard let status = try FileStatus.of(leftover.path), status.kind == .regular,
          status.changed <= moment
        else { return false }
        if leftover.kind == .staging {
          let file = try FileDescriptor.open(leftover.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
          guard flock(file.rawValue, LOCK_EX | LOCK_NB) == 0 else { return false }
          return try DurableFile.unlink(leftover.path)
        }
        return try DurableFile.unlink(leftover.path)
      }
    }
  }

  /// The handoffs that have a folder of grants.
  func granted() throws(LibraryError) -> [(destination: BytePath, handoff: BytePath)] {
    var found: [(destination: BytePath, handoff: BytePath)] = []
    for destination in try entries(of: layout.grants) where destination.kind == .directory {
      let folder = layout.grants.appending(destination.name)
      found += try entries(of: folder).map { (destination.name, $0.name) }
    }
    return found
  }
}

extension StoreLayout {
  /// What a name in a shard stands for.
  enum Resident: Hashable {
    case object(ContentDigest)
    case record(ContentDigest)
  }

  /// Nil for a name that the library never gives.
  static func resident(_ name: BytePath) -> Resident? {
    guard let text = name.exactText else { return nil }
    if let digest = ContentDigest(hex: text), digest.hex == text { return .object(digest) }
    guard text.hasSuffix(".json"), let digest = ContentDigest(hex: String(text.dropLast(5))),
      digest.hex + ".json" == text
    else { return nil }
    return .record(digest)
  }
}
