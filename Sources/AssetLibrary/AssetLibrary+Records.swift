import Glibc
package import HandoffCore
package import HandoffProtocol
import LinuxSystem
import Paths

/// What a walk over all of `objects` has found: enough to make the ledger's asset tables again.
package struct LibraryContents: Hashable, Sendable {
  /// In order of digests.
  package var assets: [Asset] = []
  /// Objects without a record: imports that were interrupted before their record was written.
  package var orphans: [ContentDigest] = []
  /// Records that cannot be read.
  package var problems: [LibraryError] = []
}

/// What a look at a record has found.
package enum RecordFound: Hashable, Sendable {
  case nothing
  case asset(Asset)
  /// It is not a record, or another asset's.
  case malformed
}

extension AssetLibrary {
  /// Writes an asset's record beside its object, or replaces it.
  ///
  /// It is durable when this returns.
  package func writeRecord(_ asset: Asset) async throws(LibraryError) {
    try await onFiles { store throws(LibraryError) in
      try store.writeDurably(AssetRecord(asset), to: store.layout.record(asset.digest))
    }
  }

  /// An asset's record; nil if there is none.
  package func record(of digest: ContentDigest) async throws(LibraryError) -> Asset? {
    try await onFiles { store throws(LibraryError) in
      try store.requireAvailable()
      return try store.readRecord(digest)
    }
  }

  /// What stands where an asset's record is.
  package func recordFound(of digest: ContentDigest) async throws(LibraryError) -> RecordFound {
    do throws(LibraryError) {
      return try await record(of: digest).map { .asset($0) } ?? .nothing
    } catch {
      guard error.code == .malformedRecord else { throw error }
      return .malformed
    }
  }

  /// Everything in the library, as its records have it.
  ///
  /// Objects are not read.
  package func contents() async throws(LibraryError) -> LibraryContents {
    try await onLane(bytes: .max) { store throws(LibraryError) in try store.readContents() }
  }
}

extension ObjectStore {
  /// More than any record needs, each sighting being at most some 10 KiB.
  private static let recordLimit = 64 << 20

  fileprivate func readRecord(_ digest: ContentDigest) throws(LibraryError) -> Asset? {
    let path = layout.record(digest)
    guard let bytes = try readSmallFile(path, limit: Self.recordLimit) else { return nil }
    let record: AssetRecord
    do {
      record = try WireCoder.decode(AssetRecord.self, from: bytes, limit: Self.recordLimit)
    } catch {
      throw LibraryError(.malformedRecord, path, detail: "\(error)")
    }
    guard record.digest == digest, let asset = record.asset else {
      throw LibraryError(.malformedRecord, path, detail: "it is another asset's")
    }
    return asset
  }

  fileprivate func readContents() throws(LibraryError) -> LibraryContents {
    try requireAvailable()
    var contents = LibraryContents()
    for shard in try entries(of: layout.objects) where shard.kind == .directory {
      let names = try entries(of: layout.objects.appending(shard.name)).map(\.name)
      try read(names, into: &contents)
    }
    return contents
  }

  private func read(
    _ names: [BytePath],
    into contents: inout LibraryContents
  ) throws(LibraryError) {
    let digests = Set(
      names.compactMap { name in
        name.exactText.flatMap { ContentDigest(hex: String($0.prefix(64))) }
      }
    )
    for digest in digests.sorted(by: { $0.hex < $1.hex }) {
      do throws(LibraryError) {
        if let asset = try readRecord(digest) {
          contents.assets.append(asset)
        } else {
          contents.orphans.append(digest)
        }
      } catch let error where error.code == .malformedRecord {
        contents.problems.append(error)
      }
    }
  }

  func entries(of folder: BytePath) throws(LibraryError) -> [Directory.Entry] {
    try storing(folder) { () throws(SystemError) in
      try Directory.entries(of: folder).sorted { $0.name < $1.name }
    }
  }
}
