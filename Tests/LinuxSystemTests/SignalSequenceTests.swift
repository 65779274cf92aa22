import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

@Suite("Signals", .timeLimit(.minutes(1)))
struct SignalSequenceTests {
  @Test("come one after the other from a sequence, in a process of their own")
  func sequence() async throws {
    // Signals are the whole process's, so another program takes them: an asynchronous one, whose main
    // thread blocks nothing.
    let program = try productsFolder().appending("hostile-receiver")
    let (reading, writing) = try FileDescriptor.pipe()
    var command = ProcessCommand(program, arguments: ["signals", "print"])
    command.descriptors[1] = writing
    let process = try await SpawnedProcess.spawn(command)
    try writing.close()
    let thread = BlockingThread("signals")
    func line() async throws -> String {
      try await thread.run {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 100, alignment: 1)
        defer { buffer.deallocate() }
        return String(decoding: buffer[..<(try reading.read(into: buffer))], as: UTF8.self)
      }
    }
    #expect(try await line() == "ready\n")
    for signal in [SIGHUP, SIGINT, SIGTERM] {
      #expect(kill(process.id, signal) == 0)
      #expect(try await line() == "\(signal)\n")
    }
    #expect(await process.exit() == .exited(0))
  }
}
