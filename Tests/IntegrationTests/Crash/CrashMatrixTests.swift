import Glibc
import HandoffTestSupport
import LinuxSystem
import Testing

/// The broker and a receiver, stopped at points of their walks: a sample of what LongTests tries in full.
@Suite("Crash matrix")
struct CrashMatrixTests {
  @Test(
    "killed at some points of each walk, nothing is lost, doubled or falsely done",
    .timeLimit(.minutes(5))
  )
  func kills() async throws {
    let kills = Sampling(points: environmentValue("POINTS").flatMap { Int($0) } ?? 1)
    try await kills.run(CrashWalk.all) { count, random in
      (0..<kills.points).map { _ in .kill(Int.random(in: 1...count, using: &random)) }
    }
  }

  @Test(
    "with an error at some points, the same broker brings everything to its end",
    .timeLimit(.minutes(5))
  )
  func errors() async throws {
    let errors = Sampling(points: environmentValue("POINTS").flatMap { Int($0) } ?? 3)
    try await errors.run([.importing]) { count, random in
      (0..<errors.points).map { index in
        let error = CrashMatrix.errors[index % CrashMatrix.errors.count]
        return .fail(
          Int.random(in: 1...(count * 3 / 4), using: &random),
          errno: error.errno,
          length: error.length
        )
      }
    }
  }
}

/// Points that a seed chooses.
private struct Sampling {
  let points: Int

  func run(
    _ walks: [CrashWalk],
    _ choose: (Int, inout SeededGenerator) -> [FaultSeam.Plan]
  ) async throws {
    let seed = LongTests.seed
    var random = SeededGenerator(seed: seed)
    try await withTemporaryDirectory { folder in
      let matrix = CrashMatrix(seam: try await FaultSeam(in: folder))
      var tally = CrashMatrix.Tally()
      for walk in walks {
        // About what each walk passes; a point that it does not have is no fault.
        tally.add(try await matrix.run(walk, choose(walk.usualPoints, &random)))
      }
      print("crash matrix, sampled with SEED=\(seed): \(tally.summary)")
      #expect(tally.complaints.isEmpty)
      #expect(tally.points > 0, "the seam was not met")
    }
  }
}
