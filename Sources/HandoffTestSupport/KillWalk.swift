/// Kills a plugin (`kill -9`) at the first pass of a point, in another delivery at the second, and so on until a
/// delivery comes to its end unharmed.
///
/// ```swift
/// let steps = try await KillWalk(point: "http.answer").run { faults in
///   let server = …          // a fresh service and a fresh work folder for each delivery
///   let ended = try await plugin.deliverOverCrashes(submission, grants, faults: faults)
///   #expect(…)              // one published item, no false success
///   return ended.processes
/// }
/// ```
package struct KillWalk: Sendable {
  /// `http.send` (before a request), `http.answer` (after the service has answered), `journal` (before a step is
  /// recorded), or `*` for each of them.
  package var point: String
  /// How many processes are killed, one after the other: the later ones early, where they go on.
  package var kills: Int
  /// More points than any delivery has.
  package var limit: Int

  package init(point: String, kills: Int = 1, limit: Int = 80) {
    self.point = point
    self.kills = kills
    self.limit = limit
  }

  /// Walks.
  ///
  /// - Parameter trial: makes one delivery with these `HANDOFF_FAULT` values and returns how many processes it took.
  /// - Returns: at how many points there was a kill.
  /// - Throws: what the trial throws, and where it has no end.
  nonisolated(nonsending) package func run(
    _ trial: nonisolated(nonsending) ([String]) async throws -> Int
  ) async throws -> Int {
    for ordinal in 1...limit {
      let later = (1..<max(kills, 1)).map { "\(point):\(1 + (ordinal + $0) % 4):kill" }
      if try await trial(["\(point):\(ordinal):kill"] + later) == 1 { return ordinal - 1 }
    }
    throw TestSupportError("a delivery has more than \(limit) passes of \(point)")
  }
}
