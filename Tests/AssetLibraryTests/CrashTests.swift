import AssetLibrary
import Glibc
import HandoffCore
import HandoffLog
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// Each step of the walk is a process of its own that kills itself at the next point.
@Suite("Crashes", .timeLimit(.minutes(5)))
struct CrashTests {
  @Test(
    "killed at any step, an import loses nothing, leaves no wrong object, and is made by the next run",
    arguments: ["copy", "take", "damaged"]
  )
  func killWalk(scenario: String) async throws {
    let bytes = randomBytes(600_000)
    let digest = try contentDigest(bytes)
    var passed = false
    for step in 1...40 where !passed {
      try await withTemporaryDirectory(inMemory: true) { root in
        let before = try await LibraryFixture(root)
        let source = try before.export("clip.mp4", bytes)
        if scenario == "damaged" {
          _ = try await before.importFile(source)
          try writeFile(before.object(digest), [0])
        }
        let folder = root.lossyText
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [folder = folder as String, step = step as Int, scenario] in
          try await importAndDie(in: BytePath(folder), step: step, scenario: scenario)
        }
        passed = try status(of: root.appending("done")) != nil
        #expect(try readFile(source) == bytes, "step \(step)")
        #expect(try before.staged().count <= 1, "step \(step)")
        if scenario != "damaged" {
          for object in try before.objects() { #expect(object.name == BytePath(object.digest)) }
        }
        let after = try await LibraryFixture(root)
        #expect(try after.staged().isEmpty, "step \(step)")
        let mode: ImportMode = scenario == "take" ? .take : .copy
        #expect(try await after.importFile(source, mode: mode).digest == digest, "step \(step)")
        #expect(try await after.library.verify(digest) == .good, "step \(step)")
        #expect(try status(of: after.object(digest))?.permissions == 0o444, "step \(step)")
      }
    }
    #expect(passed, "the walk came to an end")
  }
}

/// The child's part: dies at a step of the import, or after it has marked that there was no such step.
private func importAndDie(in root: BytePath, step: Int, scenario: String) async throws {
  let plan = FaultPlan(environment: "*:\(step):kill")
  let fixture = try await LibraryFixture(root, faults: plan)
  let source = fixture.exports.appending("clip.mp4")
  _ = try await fixture.importFile(source, mode: scenario == "take" ? .take : .copy)
  try writeFile(root.appending("done"), [])
  kill(getpid(), SIGKILL)
}
