import Glibc
import HandoffCore
import HandoffLog
import HandoffTestSupport
import LinuxSystem
import MediaProbe
import Paths

/// A probe with the worker that SwiftPM built beside the test program.
struct ProbeFixture {
  let probe: MediaProbe
  let log = Captured<LogRecord>()

  init(workers: Int = 2, limit: Duration = .seconds(20)) throws {
    probe = MediaProbe(
      executable: try productsFolder().appending("handoff-probe"),
      workers: workers,
      limit: limit,
      logger: Logger(threshold: .debug, sink: log.append)
    )
  }

  /// The workers that were started, oldest first.
  var processes: [pid_t] {
    log.all.filter { $0.message == "The probe started a worker." }
      .compactMap { $0.fields[.pid].flatMap { pid_t($0) } }
  }

  func verdict(_ path: BytePath) async throws -> ProbeVerdict {
    let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK)
    return await probe.verdict(for: file, size: try file.status().size)
  }

  /// Writes bytes to a file and probes that.
  func verdict(_ bytes: [UInt8], in folder: BytePath, named name: String) async throws
    -> ProbeVerdict
  {
    let path = folder.appending(name)
    try Self.write(bytes, to: path)
    return try await verdict(path)
  }

  static func write(_ bytes: [UInt8], to path: BytePath) throws {
    try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC).write(bytes)
  }

  static func read(_ path: BytePath) throws -> [UInt8] {
    try FileDescriptor.open(path, O_RDONLY).readAll(limit: 64 << 20)
  }
}

/// Runs a test with a probe and a folder of its own, and ends both.
func withProbe(
  workers: Int = 2,
  limit: Duration = .seconds(20),
  _ body: (ProbeFixture, BytePath) async throws -> Void
) async throws {
  try await withTemporaryDirectory { folder in
    let fixture = try ProbeFixture(workers: workers, limit: limit)
    do {
      try await body(fixture, folder)
    } catch {
      await fixture.probe.shutdown()
      throw error
    }
    await fixture.probe.shutdown()
  }
}

extension ProbeVerdict {
  /// The file may be imported.
  var isAccepted: Bool { judgement == .complete || judgement == .notProvable }
}
