import Glibc
import HandoffTestSupport
import LinuxSystem
import Testing

extension LongTests {
  /// Every point of every walk, killed at and failed at (`HANDOFF_LONG`; without it, see
  /// ``CrashMatrixTests``).
  @Suite("Crash matrix, in full", .serialized, .enabled(if: LongTests.isLong))
  struct CrashMatrixInFull {
    @Test("a kill at every boundary", .timeLimit(.minutes(120)), arguments: Self.walks)
    func kills(walk: CrashWalk) async throws {
      try await withTemporaryDirectory { folder in
        let matrix = CrashMatrix(seam: try await FaultSeam(in: folder))
        let count = try await matrix.count(walk)
        // Threads do not meet in the same order each time: a few more than were counted.
        let points = Self.points(count + count / 20)
        let tally = try await matrix.run(walk, points.map { .kill($0) })
        print("crash matrix, \(walk.name): \(tally.summary)")
        #expect(tally.complaints.isEmpty)
        #expect(tally.points * 10 > points.count * 8)
      }
    }

    /// Over the points the errors take turns, and which begins depends on the seed.
    @Test(
      "an error at every call, once and for a while",
      .timeLimit(.minutes(120)),
      arguments: [
        CallErrors(name: "file errors", errors: [ENOSPC, EIO, EDQUOT, EROFS], length: 50),
        CallErrors(name: "file errors", errors: [ENOSPC, EIO, EDQUOT, EROFS], length: 1),
        CallErrors(name: "refused locks", errors: [EAGAIN], length: 1),
        CallErrors(name: "refused locks", errors: [EAGAIN], length: 50),
      ]
    )
    func errors(call: CallErrors) async throws {
      try await withTemporaryDirectory { folder in
        let matrix = CrashMatrix(seam: try await FaultSeam(in: folder))
        let count = try await matrix.count(.importing, call.plan(at: 1 << 30))
        let points = Self.points(count)
        let tally = try await matrix.run(.importing, points.map { call.plan(at: $0) })
        print("error matrix, \(call), SEED=\(LongTests.seed): \(tally.summary)")
        #expect(tally.complaints.isEmpty)
        #expect(tally.points * 10 > points.count * 7)
      }
    }

    /// All points, or each so manieth with `STRIDE`.
    private static func points(_ count: Int) -> [Int] {
      let stride = environmentValue("STRIDE").flatMap { Int($0) } ?? 1
      return Array(Swift.stride(from: 1 + Int(LongTests.seed) % stride, through: count, by: stride))
    }

    /// Those that `WALK` names, with commas between them, else all.
    private static var walks: [CrashWalk] {
      guard let names = environmentValue("WALK")?.split(separator: ",") else {
        return CrashWalk.all
      }
      return CrashWalk.all.filter { names.contains($0.name[...]) }
    }
  }
}

/// The errors that calls of one kind are given.
struct CallErrors: Sendable, CustomTestStringConvertible, CustomStringConvertible {
  let name: String
  let errors: [CInt]
  /// So many calls fail, one after the other.
  let length: Int

  var description: String { "\(name) x \(length)" }
  var testDescription: String { description }

  func plan(at ordinal: Int) -> FaultSeam.Plan {
    let turn = Int(truncatingIfNeeded: LongTests.seed) &+ ordinal
    return .fail(ordinal, errno: errors[turn % errors.count], length: length)
  }
}
