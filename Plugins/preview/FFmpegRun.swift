import Glibc
import LinuxSystem
import Paths

/// One run of ffmpeg or ffprobe.
struct FFmpegRun: Sendable {
  let program: BytePath
  var arguments: [BytePath] = []
  var bounds = FFmpegBounds()
  /// Who is given the lines that it writes to its descriptors; called on one thread, one after the other.
  var readers: [CInt: @Sendable (String) -> Void] = [:]
  /// Bytes; what is longer on its standard output is cut.
  var longestLine = 16_384

  init(_ program: BytePath) {
    self.program = program
  }
}

/// What a run may use.
struct FFmpegBounds: Sendable, Hashable {
  /// Of all its threads together.
  var cpuSeconds: UInt64 = 900
  /// Bytes of the largest file that it may write.
  var fileSize: UInt64 = 64 << 20

  var limits: [ProcessCommand.Limit] {
    [.fileSize(fileSize), .cpuSeconds(cpuSeconds), .coreSize(0)]
  }
}

/// ffmpeg ended with an error.
struct FFmpegFailure: Error, CustomStringConvertible {
  let status: ExitStatus
  /// The line that says why.
  let line: String
  var bounds = FFmpegBounds()

  /// The disk is full, which says nothing about the asset; seldom the last thing that ffmpeg says.
  var isOutOfSpace = false
  var isOutOfTime: Bool { status == .signalled(SIGXCPU) || status == .signalled(SIGKILL) }

  var description: String {
    switch status {
    case .signalled(SIGXCPU), .signalled(SIGKILL):
      "ffmpeg was ended, after \(bounds.cpuSeconds) seconds of processor time or for want of memory"
    case .signalled(SIGXFSZ):
      "ffmpeg wrote a file of more than \(bounds.fileSize) bytes"
    default:
      line.isEmpty ? "ffmpeg ended with \(status)" : "ffmpeg: \(line)"
    }
  }
}
