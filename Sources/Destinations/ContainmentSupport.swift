import Glibc
import LinuxSystem
package import Paths

/// Whether receivers can be contained on this machine.
package enum ContainmentSupport: Hashable, Sendable, CustomStringConvertible {
  /// By this `bwrap`.
  case bubblewrap(BytePath)
  /// Not at all, and why.
  case none(reason: String)

  package var description: String {
    switch self {
    case .bubblewrap: "bubblewrap"
    case .none(let reason): "none: \(reason)"
    }
  }

  /// Looks for `bwrap` on a search path and tries it on an empty command; once at the start.
  nonisolated(nonsending) package static func find(searchPath: String) async -> ContainmentSupport {
    guard let program = CommandSearch.find("bwrap", on: searchPath) else {
      return .none(reason: "bwrap is not installed (package bubblewrap)")
    }
    do {
      let failure = try await trial(of: program)
      return failure.map { .none(reason: $0) } ?? .bubblewrap(program)
    } catch {
      return .none(reason: "\(error)")
    }
  }

  /// What the trial says when it fails; nil if it went well.
  nonisolated(nonsending) private static func trial(of program: BytePath) async throws -> String? {
    let (reading, writing) = try FileDescriptor.pipe()
    let system = try SystemLayout.current()
    var command = ProcessCommand(
      program,
      arguments: Containment.isolation + ["--unshare-net"] + system.arguments
        + Containment.ownFolders + ["--remount-ro", "/dev", "--", "/usr/bin/env", "true"]
    )
    command.isConfined = true
    command.environment = [BytePath("PATH=\(CommandSearch.defaultPath)")]
    command.descriptors[2] = writing
    let process = try await SpawnedProcess.spawn(command)
    try writing.close()
    let timer = EventLoop.process.after(.seconds(10)) { process.signalGroup(SIGKILL) }
    let status = await process.exit()
    timer.cancel()
    if status == .exited(0) { return nil }
    let words = try await BlockingThread("bwrap").run { try reading.readAll(limit: 65_536) }
    let text = String(decoding: words, as: UTF8.self).split(separator: "\n").first.map(String.init)
    return BytePath(text ?? "bwrap ended with \(status)").displayText
  }
}
