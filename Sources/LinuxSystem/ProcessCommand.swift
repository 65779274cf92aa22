package import Paths

/// What a process is started with; see posix_spawn(3).
package struct ProcessCommand: Sendable {
  /// A bound on what the process may use; see setrlimit(2).
  package enum Limit: Hashable, Sendable {
    case cpuSeconds(UInt64)
    /// Bytes of one file.
    case fileSize(UInt64)
    /// Bytes.
    case coreSize(UInt64)
    /// Bytes.
    case addressSpace(UInt64)
    case openFiles(UInt64)
    /// Of the whole user, so of little use outside a user namespace.
    case processes(UInt64)
  }

  /// Absolute.
  package var executable: BytePath
  /// All arguments, the program's own name first.
  package var arguments: [BytePath]
  /// The whole environment as `NAME=VALUE`; nothing is inherited.
  package var environment: [BytePath]
  /// The child's descriptors by number; 0, 1 and 2 are `/dev/null` where they are missing, and
  /// nothing else is open in the child.
  package var descriptors: [CInt: FileDescriptor] = [:]
  /// Nil for the parent's.
  package var workingDirectory: BytePath?
  /// A session of its own, without a terminal, instead of only a process group.
  package var newSession = false
  /// For somebody else's program: it can gain no privileges (see prctl(2), `PR_SET_NO_NEW_PRIVS`), and
  /// its umask is 022, whatever this process's is.
  package var isConfined = false
  /// Set right after the start, so they bind what the process does from then on.
  package var limits: [Limit] = []

  package init(
    _ executable: BytePath,
    arguments: [BytePath] = [],
    environment: [BytePath] = []
  ) {
    self.executable = executable
    self.arguments = [executable] + arguments
    self.environment = environment
  }
}
