import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization
import Testing

/// Tries many points of one walk, a few brokers at a time, and counts what was tried.
struct CrashMatrix: Sendable {
  /// How many points of each kind were hit, and what was wrong at which.
  struct Tally: Sendable {
    var kinds: [String: Int] = [:]
    var complaints: [String] = []
    /// What nobody was told of, since nothing was to be seen of it.
    var invisible: [String: Int] = [:]

    var points: Int { kinds.values.reduce(0, +) }

    mutating func add(_ other: Tally) {
      kinds.merge(other.kinds, uniquingKeysWith: +)
      complaints += other.complaints
      invisible.merge(other.invisible, uniquingKeysWith: +)
    }

    /// `N points (fsync a, rename b …), c faults`.
    var summary: String {
      let counts = kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      let unseen = invisible.sorted { $0.key < $1.key }.map { ", unseen \($0.key) \($0.value)" }
      return "\(points) points (\(counts.joined(separator: ", "))), \(complaints.count) faults"
        + unseen.joined()
    }
  }

  let seam: FaultSeam

  /// Brokers at one time: `LANES`, else two.
  private static let lanes = environmentValue("LANES").flatMap { Int($0) } ?? 2

  /// The errors, each of which comes once, and for a while.
  static let errors: [(errno: CInt, length: Int)] = [
    (ENOSPC, 1), (EIO, 1), (EDQUOT, 1), (EROFS, 1), (ENOSPC, 50), (EIO, 50), (EROFS, 50),
  ]

  /// How many points an undisturbed walk passes.
  func count(_ walk: CrashWalk, _ plan: FaultSeam.Plan = .count) async throws -> Int {
    let outcome = try await CrashTrial.run(walk, plan, seam)
    #expect(outcome.complaints.isEmpty, "\(walk.name), undisturbed: \(outcome.complaints)")
    try #require(outcome.passed > 20, "\(walk.name): the seam counts too little")
    return outcome.passed
  }

  /// What the lanes have in common.
  private final class Progress: Sendable {
    let next = Atomic(0)
    let tally = Mutex(Tally())
  }

  /// Tries each plan; what is wrong is recorded and counted.
  func run(_ walk: CrashWalk, _ plans: [FaultSeam.Plan]) async throws -> Tally {
    let progress = Progress()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.lanes {
        group.addTask {
          while true {
            let index = progress.next.add(1, ordering: .relaxed).oldValue
            guard index < plans.count else { return }
            let outcome = try await CrashTrial.run(walk, plans[index], seam)
            progress.tally.withLock { $0.add(outcome, of: walk, plans[index]) }
          }
        }
      }
      try await group.waitForAll()
    }
    return progress.tally.withLock { $0 }
  }
}

extension CrashMatrix.Tally {
  fileprivate mutating func add(
    _ outcome: CrashTrial.Outcome,
    of walk: CrashWalk,
    _ plan: FaultSeam.Plan
  ) {
    if let hit = outcome.hit { kinds[hit.kind, default: 0] += 1 }
    if !outcome.isTold, let hit = outcome.hit { invisible[hit.kind, default: 0] += 1 }
    guard !outcome.complaints.isEmpty else { return }
    let point = outcome.hit?.description ?? "no point"
    let text = "\(walk.name), \(plan) at \(point): \(outcome.complaints.joined(separator: "; "))"
    complaints.append(text)
    print("FAULT: \(text)")
  }
}
