import LinuxSystem

extension Rclone {
  /// How one command has ended.
  struct Ended: Sendable {
    let status: ExitStatus
    /// Standard output.
    let output: [UInt8]
    /// The last errors that it has told of, without secrets.
    let errors: [String]
    /// Paths and names in the command, which may stand in the errors.
    let names: [String]

    var isSuccess: Bool { status == .exited(0) }
  }
}
