import AssetLibrary
import HandoffControl
import HandoffCore
import HandoffProtocol
import Ledger
import Paths

/// Compares the library's names and records with the ledger, without reading an object.
struct LibrarySurvey: Sendable {
  let library: AssetLibrary
  let ledger: Ledger
  let progress: CheckProgress
  /// What is younger may belong to an import that runs.
  let changedBefore: Timestamp

  private static let batch = 500

  /// Reports what it finds, mends records that the ledger can make again, and returns the objects that
  /// the ledger does not know.
  func run() async throws -> [LibraryCensus.Object] {
    let census = try await library.census()
    for path in census.strays { progress.found(.init(.stray, path)) }
    var orphans: [LibraryCensus.Object] = []
    for objects in census.objects.batches(of: Self.batch) {
      let statuses = try await ledger.statuses(of: objects.map(\.digest))
      for object in objects {
        if try await look(at: object, statuses[object.digest]) { orphans.append(object) }
      }
    }
    let lone = try await ledger.statuses(of: census.loneRecords)
    for digest in census.loneRecords where lone[digest] == nil {
      try await lookAtRecord(of: digest)
    }
    return orphans
  }

  /// True for an object that nothing else will read.
  private func look(
    at object: LibraryCensus.Object,
    _ status: Asset.Status?
  ) async throws -> Bool {
    guard object.changed / 1_000_000 <= changedBefore.milliseconds else { return false }
    switch status {
    case nil:
      progress.found(.init(.orphanObject, object.path))
      return true
    case .deleted:
      progress.found(.init(.leftObject, object.path, LocalIdentifier(object.digest)))
    case .present, .damaged, .unavailable:
      try await mendRecord(of: object)
    }
    return false
  }

  private func mendRecord(of object: LibraryCensus.Object) async throws {
    let kind: CheckReport.Finding.Kind
    switch try await library.recordFound(of: object.digest) {
    case .asset: return
    case .nothing: kind = .missingRecord
    case .malformed: kind = .malformedRecord
    }
    let identifier = LocalIdentifier(object.digest)
    // A rendition has none of its own: its asset's record names it.
    guard let asset = try await ledger.asset(identifier), asset.status != .deleted else { return }
    try await library.writeRecord(asset)
    progress.found(.init(kind, library.recordPath(of: object.digest), identifier, mended: true))
  }

  /// The record of a deleted asset is its tombstone, and no finding.
  private func lookAtRecord(of digest: ContentDigest) async throws {
    let path = library.recordPath(of: digest)
    switch try await library.recordFound(of: digest) {
    case .nothing: return
    case .malformed: progress.found(.init(.malformedRecord, path))
    case .asset(let asset) where asset.status == .deleted: return
    case .asset(let asset): progress.found(.init(.orphanRecord, path, asset.localIdentifier))
    }
  }
}
