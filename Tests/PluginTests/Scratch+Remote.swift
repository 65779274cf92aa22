import HandoffProtocol
import HandoffTestSupport
import LinuxSystem
import Paths

extension Scratch {
  /// An archive on a `local` remote, with the rclone that is installed unless another program is given.
  func remoteArchive(
    _ settings: [String: JSONValue] = [:],
    section: String = "type = local"
  ) throws -> PluginProcess {
    let config = path.appending("rclone.conf")
    try DurableFile.write(Array("[store]\n\(section)\n".utf8), to: config)
    var all: [String: JSONValue] = [
      "remote": .string("store:\(out.lossyText)"), "layout": .string("a"),
      "rclone_config": .string(config.lossyText),
    ]
    all.merge(settings) { $1 }
    return PluginProcess(name: "handoff-archive", settings: .object(all), work: work)
  }

  /// A program that stands before rclone.
  func program(_ text: String) throws -> JSONValue {
    let path = path.appending("rclone.sh")
    try DurableFile.write(Array("#!/bin/sh\n\(text)\n".utf8), to: path, permissions: 0o755)
    return .string(path.lossyText)
  }

  /// `sha256sum` finds everything right in the one folder.
  func isRemoteVerified() async throws -> Bool {
    let status = try await runProgram(
      "/usr/bin/sha256sum",
      ["--check", "--strict", "SHA256SUMS"],
      in: out.appending("a"),
      output: path.appending("sha256sum.txt")
    )
    return status == .exited(0)
  }
}
