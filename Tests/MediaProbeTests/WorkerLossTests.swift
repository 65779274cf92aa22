import Glibc
import HandoffCore
import HandoffLog
import HandoffTestSupport
import LinuxSystem
import MediaProbe
import Paths
import Testing

@Suite("Lost workers", .timeLimit(.minutes(2)))
struct WorkerLossTests {
  @Test("a worker that is killed on a file costs that file its verdict, and no other")
  func killed() async throws {
    try await stopped { fixture, process, verdict in
      kill(process, SIGKILL)
      let lost = try await verdict()
      #expect(lost.judgement == .failed)
      #expect(lost.evidence.map(\.check) == [.probe])
    }
  }

  @Test("a worker that hangs is killed after the limit, and the next file is probed")
  func hanging() async throws {
    try await stopped(limit: .seconds(10)) { fixture, process, verdict in
      let lost = try await verdict()
      #expect(lost.judgement == .failed)
      #expect(kill(process, 0) == -1 && errno == ESRCH, "the hanging worker is still there")
    }
  }

  @Test("a worker that died between two files is replaced without any loss")
  func idleDeath() async throws {
    let path = try await SampleVideo.mp4.path()
    try await withProbe(workers: 1) { fixture, _ in
      #expect(try await fixture.verdict(path).judgement == .complete)
      let process = try #require(fixture.processes.first)
      kill(process, SIGKILL)
      let isGone = try await poll { kill(process, 0) == -1 ? true : nil }
      #expect(isGone == true)
      #expect(try await fixture.verdict(path).judgement == .complete)
      #expect(fixture.processes.count == 2)
    }
  }

  @Test("a missing worker program is a failed verdict, not a crash")
  func noProgram() async throws {
    let path = try await SampleVideo.mp4.path()
    let probe = MediaProbe(executable: "/nonexistent/handoff-probe", logger: .silent)
    let file = try FileDescriptor.open(path, O_RDONLY)
    #expect(await probe.verdict(for: file, size: 1).judgement == .failed)
    await probe.shutdown()
  }

  @Test("a program that answers with something else is a failed verdict")
  func otherProgram() async throws {
    try await withTemporaryDirectory { folder in
      let script = folder.appending("probe.sh")
      let text = "#!/bin/sh\necho '{\"judgement\":\"excellent\"}' >&3\nexec cat <&3\n"
      try FileDescriptor.open(script, O_WRONLY | O_CREAT, mode: 0o700).write(Array(text.utf8))
      let probe = MediaProbe(executable: script, limit: .seconds(5), logger: .silent)
      let file = try FileDescriptor.open(script, O_RDONLY)
      let size = try file.status().size
      #expect(await probe.verdict(for: file, size: size).judgement == .failed)
      #expect(await probe.verdict(for: file, size: size).judgement == .failed)
      await probe.shutdown()
    }
  }

  @Test("after a shutdown no worker is left, and callers get a failed verdict")
  func shutdown() async throws {
    let path = try await SampleVideo.mp4.path()
    let fixture = try ProbeFixture()
    #expect(try await fixture.verdict(path).judgement == .complete)
    await fixture.probe.shutdown()
    for process in fixture.processes { #expect(kill(process, 0) == -1) }
    #expect(try await fixture.verdict(path).judgement == .failed)
  }

  @Test("a caller that is cancelled while it waits leaves its turn to the next")
  func cancelledWait() async throws {
    let path = try await SampleVideo.mp4.path()
    try await stopped { fixture, process, verdict async throws in
      let waiting = Task { try await fixture.verdict(path) }
      let next = Task { try await fixture.verdict(path) }
      waiting.cancel()
      #expect(try await waiting.value.judgement == .failed)
      kill(process, SIGCONT)
      #expect(try await verdict().judgement == .complete)
      #expect(try await next.value.judgement == .complete)
    }
  }

  @Test("a worker keeps no descriptor of the files that it has probed")
  func descriptors() async throws {
    let path = try await SampleVideo.mp4.path()
    try await withProbe(workers: 1) { fixture, _ in
      _ = try await fixture.verdict(path)
      let process = try #require(fixture.processes.first)
      let folder = BytePath("/proc/\(process)/fd")
      let before = try Directory.entries(of: folder).count
      for _ in 0..<200 { _ = try await fixture.verdict(path) }
      // The last file is closed right after its answer.
      let isSame = try await poll {
        try Directory.entries(of: folder).count <= before ? true : nil
      }
      #expect(isSame == true)
    }
  }

  /// Stops the only worker, asks it about a file, lets the body deal with both, and shows after it that
  /// the next file works.
  private func stopped(
    limit: Duration = .seconds(20),
    _ body: (ProbeFixture, pid_t, () async throws -> ProbeVerdict) async throws -> Void
  ) async throws {
    let path = try await SampleVideo.mp4.path()
    try await withProbe(workers: 1, limit: limit) { fixture, _ in
      #expect(try await fixture.verdict(path).judgement == .complete)
      let process = try #require(fixture.processes.last)
      kill(process, SIGSTOP)
      let asked = Task { try await fixture.verdict(path) }
      let isAsked = try await poll { fixture.probe.filesAsked == 2 ? true : nil }
      #expect(isAsked == true)
      try await body(fixture, process) { try await asked.value }
      #expect(try await fixture.verdict(path).judgement == .complete)
    }
  }
}
