import Glibc
import HandoffPluginKit
import HandoffProtocol
import LinuxSystem
import Paths

/// The ffmpeg program.
struct FFmpeg: Sendable {
  private static let folders = "/usr/local/bin:/usr/bin:/bin"
  /// The largest picture it may write, in bytes: also the bound of what it says on standard error.
  private static let largestFile: UInt64 = 64 << 20
  private static let cpuSeconds: UInt64 = 900

  private let executable: BytePath

  /// Finds the program in folders with colons in between; in the usual ones where they are nil.
  init(path: String?) throws(ResultError) {
    for folder in (path ?? Self.folders).split(separator: ":") where folder.hasPrefix("/") {
      let candidate = BytePath(String(folder)).appending("ffmpeg")
      if access(candidate.nulTerminated, X_OK) == 0 {
        executable = candidate
        return
      }
    }
    throw .notConfigured("ffmpeg is not on PATH", remedy: "Install the package ffmpeg.")
  }

  /// Runs it in a folder, without a shell, reading local files only, and waits for its end.
  ///
  /// - Throws: ``FFmpegFailure`` with the last line that it said; `CancellationError`; ``SystemError``.
  func run(_ arguments: [BytePath], in folder: BytePath) async throws {
    try Task.checkCancellation()
    let said = folder.appending("stderr.txt")
    let log = try FileDescriptor.open(said, O_RDWR | O_CREAT | O_TRUNC)
    let fixed: [BytePath] = ["-nostdin", "-v", "error", "-protocol_whitelist", "file"]
    var command = ProcessCommand(
      executable,
      arguments: fixed + arguments,
      environment: ["PATH=/usr/bin:/bin", "LC_ALL=C"]
    )
    command.descriptors = [2: log]
    command.workingDirectory = folder
    command.limits = [.fileSize(Self.largestFile), .cpuSeconds(Self.cpuSeconds), .coreSize(0)]
    let process = try await SpawnedProcess.spawn(command)
    let status = await withTaskCancellationHandler {
      await process.exit()
    } onCancel: {
      process.signalGroup(SIGKILL)
    }
    try Task.checkCancellation()
    let line = try lastLine(of: log)
    try DurableFile.unlink(said)
    guard status == .exited(0) else { throw FFmpegFailure(status: status, line: line) }
  }

  private func lastLine(of file: FileDescriptor) throws(SystemError) -> String {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 1)
    defer { buffer.deallocate() }
    let start = max(0, try file.status().size - Int64(buffer.count))
    let count = try file.read(into: buffer, at: start)
    let text = String(decoding: buffer[..<count], as: UTF8.self)
    return text.split(whereSeparator: \.isNewline).last.map(String.init) ?? ""
  }
}

/// ffmpeg ended with an error.
struct FFmpegFailure: Error, CustomStringConvertible {
  let status: ExitStatus
  /// The last line that it said.
  let line: String

  var description: String {
    line.isEmpty ? "ffmpeg ended with \(status)" : "ffmpeg: \(line)"
  }
}
