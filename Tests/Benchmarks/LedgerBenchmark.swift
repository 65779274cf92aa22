import Digests
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import Ledger
import Paths

/// Whole lives of handoffs a second: made, claimed, submitted, answered with success, each step
/// durable before the next, with attempts, results and chained events.
enum LedgerBenchmark {
  /// How many lives at once, and how many in all.
  static let sizes = [(1, 1500), (64, 30_000), (256, 40_000)]

  static func run(_ sizes: [(Int, Int)]) async throws {
    for (atOnce, lives) in sizes {
      try await withFolder { folder in
        let rate = try await measure(folder, atOnce: atOnce, lives: lives)
        print("ledger: \(Int(rate)) lives/s with \(atOnce) at once")
      }
    }
  }

  private static func measure(_ folder: BytePath, atOnce: Int, lives: Int) async throws -> Double {
    let ledger = try await Ledger.open(directory: folder, logger: .silent, now: present)
    let clock = ContinuousClock()
    let start = clock.now
    try await fill(ledger, lives: lives, atOnce: atOnce)
    let seconds = (clock.now - start) / .seconds(1)
    let counts = try await ledger.counts()
    guard counts.handoffs == [.succeeded: lives] else {
      print("ledger: not all have succeeded: \(counts.handoffs)")
      return 0
    }
    try await ledger.close()
    return Double(lives) / seconds
  }

  /// Makes handoffs of one asset that succeed.
  static func fill(
    _ ledger: Ledger,
    lives: Int,
    atOnce: Int = 64,
    number: UInt64 = 1
  ) async throws {
    let asset = try await importOne(ledger, number)
    guard let destination = DestinationName("bench") else { return }
    var order = HandoffOrder(
      destination: destination,
      localIdentifiers: [asset],
      isAutomatic: false
    )
    order.title = "An export"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<atOnce {
        let share = lives / atOnce + (worker < lives % atOnce ? 1 : 0)
        group.addTask { [order] in
          for _ in 0..<share { try await live(ledger, order) }
        }
      }
      try await group.waitForAll()
    }
  }

  private static func live(_ ledger: Ledger, _ order: HandoffOrder) async throws {
    _ = try await ledger.create(order, again: true)
    let claimed = try await ledger.claim(
      destination: order.destination,
      limit: 1,
      lease: .seconds(60)
    )
    for claim in claimed {
      try await ledger.recordSubmission(claim.handoff.id, leaseID: claim.leaseID)
      _ = try await ledger.consume(
        HandoffResult(
          state: claim.request.state,
          outcome: .success(output: ["url": .string("https://example.net/1")])
        ),
        from: order.destination,
        retry: RetryPolicy(limit: .seconds(60), first: .seconds(1), maximum: .seconds(10)),
        jitter: 0.5
      )
    }
  }

  private static func importOne(
    _ ledger: Ledger,
    _ number: UInt64
  ) async throws -> LocalIdentifier {
    guard let digest = ContentDigest(try SHA256.digest(of: Array("\(number)".utf8))) else {
      throw ProtocolError(.assetMissing, "no digest")
    }
    let facts = MediaFacts(
      container: "mp4",
      videoCodec: "h264",
      width: 1920,
      height: 1080,
      rotation: 0,
      duration: 1,
      audioTracks: 1
    )
    let asset = Asset(digest: digest, size: 1, facts: facts, importedAt: present())
    let identity = FileIdentity(device: 1, inode: number, size: 1, modified: 1, changed: 1)
    return try await ledger.recordImport(
      asset: asset,
      sighting: Sighting(
        path: BytePath("/exports/\(number).mp4"),
        folder: "/exports",
        identity: identity,
        seenAt: present()
      ),
      orders: []
    ).localIdentifier
  }

  @Sendable static func present() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
