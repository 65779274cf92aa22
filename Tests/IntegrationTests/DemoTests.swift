import LinuxSystem
import Paths
import Testing

/// The demo is the product's own end-to-end test: it fails unless every step went right.
@Suite("The demo")
struct DemoTests {
  @Test(
    "the demo walks one video through everything and leaves nothing behind",
    .timeLimit(.minutes(2))
  )
  func demo() async throws {
    let before = try leftovers()
    var command = ProcessCommand(
      RunningBroker.program,
      arguments: ["demo"],
      environment: ["PATH=/usr/local/bin:/usr/bin:/bin"]
    )
    let (reading, writing) = try FileDescriptor.pipe()
    command.descriptors = [1: writing, 2: writing]
    let demo = try await SpawnedProcess.spawn(command)
    try writing.close()
    let text = try await BlockingThread("demo").run { try reading.readAll(limit: 1 << 24) }
    #expect(await demo.exit() == .exited(0), "\(String(decoding: text, as: UTF8.self))")
    for word in ["seen", "settling", "imported", "archive", "preview", "social", "receipt"] {
      #expect(String(decoding: text, as: UTF8.self).contains(word))
    }
    #expect(try leftovers() == before)
  }

  private func leftovers() throws -> Set<BytePath> {
    Set(
      try Directory.entries(of: "/tmp").map(\.name).filter {
        $0.bytes.starts(with: "handoff-demo.".utf8)
      }
    )
  }
}
