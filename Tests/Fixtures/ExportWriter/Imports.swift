import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Synchronization

/// What the broker has imported so far, as its command line says it.
final class Imports: Sendable {
  private let digests = Mutex<Set<String>>([])
  private let program: BytePath
  private let configuration: BytePath
  private let thread = BlockingThread("imports")

  init(program: BytePath, configuration: BytePath) {
    self.program = program
    self.configuration = configuration
  }

  /// Asks again and again until it is cancelled; the ledger answers while the broker is down, too.
  func follow() async throws {
    while !Task.isCancelled {
      if let text = try await ask() {
        let assets = try WireCoder.decode(JSONValue.self, from: text, limit: .max)
        guard case .array(let elements) = assets else { continue }
        let known = Set(elements.compactMap { $0["sha256"]?.text })
        digests.withLock { $0 = known }
      }
      try await Task.sleep(for: .seconds(1))
    }
  }

  /// False if it was not imported within the limit.
  func wait(for digest: String, within limit: Duration) async throws -> Bool {
    try await poll(within: limit, every: .milliseconds(200)) {
      self.digests.withLock { $0.contains(digest) } ? true : nil
    } ?? false
  }

  private func ask() async throws -> [UInt8]? {
    let (reading, writing) = try FileDescriptor.pipe()
    var command = ProcessCommand(
      program,
      arguments: ["assets", "--json", "--config", configuration]
    )
    command.descriptors = [1: writing]
    let spawned = try await SpawnedProcess.spawn(command)
    try writing.close()
    let output = try await thread.run { try reading.readAll(limit: 1 << 28) }
    return await spawned.exit() == .exited(0) ? output : nil
  }
}
