import Digests
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import Ledger
import Paths
import Synchronization
import Testing

/// A clock that goes only when a test says so.
final class ManualTime: Sendable {
  private let milliseconds = Atomic<Int64>(1_800_000_000_000)

  var now: Timestamp { Timestamp(milliseconds: milliseconds.load(ordering: .acquiring)) }

  func advance(_ duration: Duration) {
    milliseconds.add(duration.wholeMilliseconds, ordering: .acquiringAndReleasing)
  }
}

/// A ledger in a folder of its own, with what most tests need.
struct LedgerFixture: Sendable {
  let ledger: Ledger
  let directory: BytePath
  let time: ManualTime

  /// Opens a ledger; the caller closes it.
  static func open(
    _ directory: BytePath,
    time: ManualTime = ManualTime(),
    logger: Logger = .silent
  ) async throws -> LedgerFixture {
    let ledger = try await Ledger.open(directory: directory, logger: logger, now: { time.now })
    return LedgerFixture(ledger: ledger, directory: directory, time: time)
  }

  /// Runs a test over a fresh ledger.
  nonisolated(nonsending) static func with(
    _ body: nonisolated(nonsending) (LedgerFixture) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory(inMemory: true) { directory in
      let fixture = try await open(directory)
      try await body(fixture)
      try await fixture.ledger.close()
    }
  }

  var database: BytePath { directory.appending("ledger.db") }

  /// Imports content number N from `/exports/N.mp4`.
  @discardableResult
  func add(
    _ number: Int,
    path: BytePath? = nil,
    folder: BytePath = "/exports",
    to destinations: [DestinationName] = [],
    onSupersede: DropFolderSettings.OnSupersede = .hold,
    sidecar: ConsumedSidecar? = nil,
    isDoubtful: Bool = false
  ) async throws -> ImportRecord {
    let asset = try sampleAsset(number, at: time.now)
    let orders = destinations.map {
      HandoffOrder(
        destination: $0,
        localIdentifiers: [asset.localIdentifier],
        isAutomatic: true
      )
    }
    return try await ledger.recordImport(
      asset: asset,
      sighting: Sighting(
        path: path ?? BytePath("/exports/\(number).mp4"),
        folder: folder,
        identity: identity(number),
        seenAt: time.now
      ),
      orders: orders,
      sidecar: sidecar,
      onSupersede: onSupersede,
      isDoubtful: isDoubtful
    )
  }

  /// A handoff of a fresh asset that has been submitted.
  func submitted(
    _ number: Int = 1,
    to destination: DestinationName = .archive,
    ceiling: Timestamp? = nil
  ) async throws -> ClaimedHandoff {
    try await add(number, to: [destination])
    let claimed = try #require(try await claim(destination).first)
    try await ledger.recordSubmission(
      claimed.handoff.id,
      leaseID: claimed.leaseID,
      ceiling: ceiling
    )
    return claimed
  }

  func claim(
    _ destination: DestinationName = .archive,
    limit: Int = 1
  ) async throws -> [ClaimedHandoff] {
    try await ledger.claim(destination: destination, limit: limit, lease: .seconds(60))
  }

  func answer(
    _ claimed: ClaimedHandoff,
    _ outcome: HandoffResult.Outcome,
    from destination: DestinationName = .archive,
    retry: RetryPolicy = .hour
  ) async throws -> Consumption {
    try await ledger.consume(
      HandoffResult(state: claimed.request.state, outcome: outcome),
      from: destination,
      retry: retry,
      jitter: 1
    )
  }

  func handoff(_ id: Handoff.ID) async throws -> Handoff {
    try #require(try await ledger.handoff(id))
  }
}

func sampleAsset(_ number: Int, at time: Timestamp) throws -> Asset {
  let digest = try SHA256.digest(of: Array("content \(number)".utf8))
  return Asset(
    digest: try #require(ContentDigest(digest)),
    size: Int64(number),
    facts: MediaFacts(
      container: "mp4",
      videoCodec: "h264",
      width: 1920,
      height: 1080,
      rotation: 90,
      duration: 1.5,
      audioTracks: 2
    ),
    importedAt: time
  )
}

func identity(_ number: Int, changed: Int64 = 7) -> FileIdentity {
  FileIdentity(
    device: .max,
    inode: UInt64(number),
    size: 10,
    modified: -5,
    changed: changed
  )
}

extension DestinationName {
  static let archive = named("archive")
  static let social = named("social")
  static let third = named("third")

  private static func named(_ text: String) -> DestinationName {
    guard let name = DestinationName(text) else { preconditionFailure("\(text) is no name") }
    return name
  }
}

extension RetryPolicy {
  static let hour = RetryPolicy(limit: .seconds(3600), first: .seconds(2), maximum: .seconds(60))
}

extension ResultError {
  static let busy = ResultError(.network, "no route", effect: .none, retry: .later)
  static let crashed = ResultError(.receiverCrashed, "signal 11", effect: .unknown)
}

extension Consumption {
  /// The case's name, for expectations.
  var name: String {
    switch self {
    case .applied: "applied"
    case .retried: "retried"
    case .alreadyConsumed: "alreadyConsumed"
    case .unknownState: "unknownState"
    case .wrongDestination: "wrongDestination"
    case .late: "late"
    case .malformed: "malformed"
    case .pastAttempt: "pastAttempt"
    }
  }
}
