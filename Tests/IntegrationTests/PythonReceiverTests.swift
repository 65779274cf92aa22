import Glibc
import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths
import Testing

/// The receiver that the documentation shows, run as it stands there.
@Suite("The documented HTTP receiver", .timeLimit(.minutes(2)))
struct PythonReceiverTests {
  @Test("reads the asset with its grant and answers", arguments: ["status", "callback"])
  func documented(_ answer: String) async throws {
    try await withTemporaryDirectory { root in
      let inbox = root.appending("inbox")
      try Directory.create(inbox)
      let script = root.appending("receiver.py")
      try DurableFile.write(Array(try Self.program.utf8), to: script)
      // The receiver has to know where results go before the broker has a port: it is given one.
      let (held, port) = try TCPSocket.listen(host: "127.0.0.1", port: 0)
      try held.close()
      let results = "http://127.0.0.1:\(port)/v3/results"
      let python = try await Started.python(
        script,
        environment: [
          "HANDOFF_SECRET=whsec_\(Self.key)", "HANDOFF_INBOX=\(inbox.lossyText)",
        ] + (answer == "callback" ? ["HANDOFF_RESULTS=\(results)"] : [])
      )
      let broker = try RunningBroker(
        root: root,
        configuration: HTTPScene.configuration(
          "http://127.0.0.1:\(python.port)/",
          answer: answer,
          listen: "127.0.0.1:\(port)"
        ),
        environment: ["HOOK_SECRET=whsec_\(Self.key)"]
      )
      try await broker.start()
      let scene = Scene(broker: broker)
      let bytes = try await Scene.video(7)
      try scene.write(bytes, to: "7.mp4")
      let identifier = try await scene.identifier(of: "7.mp4")
      let sent = try await broker.command(["send", BytePath(identifier), "--to", "hook", "--wait"])
      await broker.end(SIGKILL)
      await python.end()
      #expect(sent.code == 0, "\(sent.errors)")
      let uuid = BytePath(String(identifier.prefix { $0 != "/" }))
      let kept = try FileDescriptor.open(inbox.appending(uuid), O_RDONLY).readAll(limit: 1 << 24)
      #expect(kept == bytes)
    }
  }

  /// 32 bytes in base64.
  private static let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

  /// The one Python block of the page.
  private static var program: String {
    get throws {
      let page = BytePath(#filePath).parent.parent.parent
        .appending("Sources/HandoffService/HandoffService.docc/HTTPReceivers.md")
      let text = String(
        decoding: try FileDescriptor.open(page, O_RDONLY).readAll(limit: 1 << 20),
        as: UTF8.self
      )
      let start = try #require(text.firstRange(of: "```python\n"))
      let end = try #require(text[start.upperBound...].firstRange(of: "```"))
      return String(text[start.upperBound..<end.lowerBound])
    }
  }
}

/// A Python program that prints its port first.
private struct Started: Sendable {
  let process: SpawnedProcess
  let port: Int

  static func python(_ script: BytePath, environment: [String]) async throws -> Started {
    let (reading, writing) = try FileDescriptor.pipe()
    var command = ProcessCommand(
      "/usr/bin/python3",
      arguments: [script, "0"],
      environment: environment.map { BytePath($0) }
    )
    command.descriptors = [1: writing]
    let process = try await SpawnedProcess.spawn(command)
    try writing.close()
    let line = try await BlockingThread("python").run {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
      defer { buffer.deallocate() }
      return String(decoding: buffer[..<(try reading.read(into: buffer))], as: UTF8.self)
    }
    return Started(process: process, port: try #require(Int(line.dropLast())))
  }

  func end() async {
    kill(process.id, SIGTERM)
    _ = await process.exit()
  }
}
