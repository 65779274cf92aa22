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

    @Test(
      "every error at every call, once and for a while",
      .timeLimit(.minutes(240)),
      arguments: Self.walks.filter { failing.contains($0.name) },
      CallErrors.all
    )
    func errors(walk: CrashWalk, call: CallErrors) async throws {
      try await withTemporaryDirectory { folder in
        let matrix = CrashMatrix(seam: try await FaultSeam(in: folder))
        let count = try await matrix.count(walk, call.plan(at: 1 << 30, call.errors[0]))
        let points = Self.points(count)
        let plans = points.flatMap { point in call.errors.map { call.plan(at: point, $0) } }
        let tally = try await matrix.run(walk, plans)
        print("error matrix, \(walk.name), \(call): \(tally.summary)")
        #expect(tally.complaints.isEmpty)
        #expect(tally.points * 10 > plans.count * 7)
      }
    }

    /// The walks whose calls fail.
    private static let failing: Set<String> = [
      CrashWalk.importing.name, CrashWalk.removing.name, CrashWalk.retrying.name,
    ]

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

  static let all = [1, 50].flatMap { length in
    [
      CallErrors(name: "file errors", errors: [ENOSPC, EIO, EDQUOT, EROFS], length: length),
      CallErrors(name: "refused locks", errors: [EAGAIN], length: length),
    ]
  }

  var description: String { "\(name) x \(length)" }
  var testDescription: String { description }

  func plan(at ordinal: Int, _ errno: CInt) -> FaultSeam.Plan {
    .fail(ordinal, errno: errno, length: length)
  }
}
