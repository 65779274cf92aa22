import Glibc
import HandoffTestSupport
import LinuxSystem
import Paths

/// A broker in a folder that is removed after the test, with the files that tests write.
struct Scene {
  let broker: RunningBroker

  var exports: BytePath { broker.exports }

  /// Runs a test on a broker that is stopped at its end.
  static func run(
    _ configuration: String,
    starting: Bool = true,
    prefix: [BytePath] = [],
    _ body: nonisolated(nonsending) (Scene) async throws -> Void
  ) async throws {
    try await withTemporaryDirectory { root in
      let broker = try RunningBroker(root: root, configuration: configuration, prefix: prefix)
      let scene = Scene(broker: broker)
      if starting { try await scene.broker.start() }
      do {
        try await body(scene)
      } catch {
        await scene.broker.end(SIGKILL)
        throw error
      }
      await scene.broker.end(SIGKILL)
    }
  }

  /// A configuration with one folder and some destinations.
  static func configuration(
    broker: String = "",
    folder: String = "",
    handoff: [String] = [],
    destinations: String = ""
  ) -> String {
    """
    [broker]
    state = "state"
    listen = ""\(broker.isEmpty ? "" : "\n" + broker)

    [library]
    path = "library"

    [[drop_folder]]
    path = "exports"
    quiet = "100ms"
    handoff = [\(handoff.map { "\"\($0)\"" }.joined(separator: ", "))]
    \(folder)

    \(destinations)
    """
  }

  /// An `exec` destination whose script is given.
  func script(_ name: String, _ text: String) throws -> String {
    let path = broker.root.appending("\(name).sh")
    try DurableFile.write(Array("#!/bin/sh\n\(text)\n".utf8), to: path, permissions: 0o755)
    return path.lossyText
  }

  /// A small whole MP4 whose bytes no other call gives: a `free` box with a number follows it.
  static func video(_ number: UInt64) async throws -> [UInt8] {
    let sample = try await SampleVideo.mp4.path()
    let bytes = try FileDescriptor.open(sample, O_RDONLY).readAll(limit: 1 << 24)
    let box: [UInt8] = [0, 0, 0, 16] + Array("free".utf8)
    return bytes + box + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  /// Writes a file the way a copy does: opened, written, closed.
  func write(_ bytes: [UInt8], to name: BytePath) throws {
    let file = try FileDescriptor.open(exports.appending(name), O_WRONLY | O_CREAT | O_TRUNC)
    try file.write(bytes)
    try file.close()
  }
}
