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
        let tally = try await matrix.run(walk, (1...(count + count / 20)).map { .kill($0) })
        print("crash matrix, \(walk.name): \(tally.summary)")
        #expect(tally.complaints.isEmpty)
        #expect(tally.points * 10 > count * 9)
      }
    }

    @Test("an error at every call", .timeLimit(.minutes(120)), arguments: [1, 50])
    func errors(length: Int) async throws {
      try await withTemporaryDirectory { folder in
        let matrix = CrashMatrix(seam: try await FaultSeam(in: folder))
        for errno in [ENOSPC, EIO, EDQUOT, EROFS, EAGAIN] {
          let past = FaultSeam.Plan.fail(1 << 30, errno: errno, length: length)
          let count = try await matrix.count(.importing, past)
          let plans = (1...count).map { FaultSeam.Plan.fail($0, errno: errno, length: length) }
          let tally = try await matrix.run(.importing, plans)
          print("error matrix, \(String(cString: strerror(errno))) x \(length): \(tally.summary)")
          #expect(tally.complaints.isEmpty)
          #expect(tally.points * 10 > count * 9)
        }
      }
    }

    /// Those that `WALK` names, else all.
    private static var walks: [CrashWalk] {
      let name = environmentValue("WALK")
      return CrashWalk.all.filter { name == nil || $0.name == name }
    }
  }
}
