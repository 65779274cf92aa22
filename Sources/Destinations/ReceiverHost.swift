package import HandoffLog
import LinuxSystem
package import Paths

/// What the machine and the broker have to do with every receiver.
package struct ReceiverHost: Sendable {
  /// The folder of the running `handoff`.
  package var programs: BytePath
  /// The broker's own environment, of which receivers get a few names.
  package var environment: [String: String]
  package var support: ContainmentSupport
  package var system: SystemLayout
  /// The state folder and the library: covered where a destination's folders would show them.
  package var hidden: [BytePath]
  package var logger: Logger

  package init(
    programs: BytePath,
    environment: [String: String],
    support: ContainmentSupport,
    system: SystemLayout,
    hidden: [BytePath],
    logger: Logger
  ) {
    self.programs = programs
    self.environment = environment
    self.support = support
    self.system = system
    self.hidden = hidden
    self.logger = logger
  }

  /// Where programs are looked for, by the broker and by its receivers.
  package var searchPath: String { environment["PATH"] ?? CommandSearch.defaultPath }
}

/// The folders that the broker keeps for one destination; both are there before a receiver starts.
package struct ReceiverFolders: Hashable, Sendable {
  /// Writable, and the receiver's home.
  package var work: BytePath
  /// The granted assets: read-only.
  package var grants: BytePath

  package init(work: BytePath, grants: BytePath) {
    self.work = work
    self.grants = grants
  }
}
