import CInotifyTools
import HandoffCore
import HandoffLog
package import LinuxSystem
import Synchronization

/// The one thread that talks to libinotifytools: it waits for events, and does what it is asked to.
final class WatchThread: Sendable {
  /// What the watcher asks of it.
  enum Request: Hashable, Sendable {
    /// List a folder.
    case list(Int)
    /// Look whether the roots are there.
    case checkRoots
    /// Watch and list everything anew: events were lost.
    case watchEverything
    case stop
  }

  private let folders: [DropFolderSettings]
  private let control: ControlFolder
  private let inbox: EventInbox
  private let logger: Logger
  private let thread = BlockingThread("watch")
  /// A set: what is asked for twice is done once.
  private let requests = Mutex<Set<Request>>([])

  init(
    folders: [DropFolderSettings],
    control: ControlFolder,
    inbox: EventInbox,
    logger: Logger
  ) {
    self.folders = folders
    self.control = control
    self.inbox = inbox
    self.logger = logger
  }

  /// Asks for something; it is done before the next event is waited for.
  func post(_ request: Request) {
    requests.withLock { _ = $0.insert(request) }
    control.wake()
  }

  /// Runs until it is asked to stop.
  ///
  /// - Throws: where no inotify instance can be had, with the limit's name.
  nonisolated(nonsending) func run() async throws {
    try control.prepare()
    try await thread.run { [self] in
      do {
        try watch()
      } catch let error as SystemError {
        throw WatchError(error)
      }
    }
  }

  private func watch() throws(SystemError) {
    let tree = try WatchTree(folders: folders, control: control, inbox: inbox, logger: logger)
    try tree.watchEverything(isFirst: true)
    while true {
      // Asked after the control folder is watched: a request either is here by now, or wakes.
      let asked = requests.withLock { requests in
        defer { requests = [] }
        return requests
      }
      if asked.contains(.stop) { return }
      try handle(asked, tree)
      let event = try tree.tools.next()
      guard event.watch == tree.controlWatch else {
        tree.handle(event)
        continue
      }
      if event.mask & UInt32(IN_IGNORED) != 0 { try tree.watchControl() }
      tree.settleMoves()
    }
  }

  private func handle(_ asked: Set<Request>, _ tree: WatchTree) throws(SystemError) {
    let isCrowded =
      tree.tools.deadEntries > max(WatchTree.deadEntryLimit, tree.directories.count)
    if asked.contains(.watchEverything) || isCrowded {
      return try tree.watchEverything(isFirst: false)
    }
    if asked.contains(.checkRoots) { tree.checkRoots() }
    for case .list(let index) in asked { tree.list(index) }
  }
}

/// Watching is not possible at all.
package struct WatchError: Error, CustomStringConvertible {
  /// The system call that failed.
  package let underlying: SystemError
  package let description: String

  init(_ error: SystemError) {
    underlying = error
    description = "drop folders cannot be watched: \(WatchLimits.explanation(of: error))"
  }
}
