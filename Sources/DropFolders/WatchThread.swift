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
    /// Try to get an inotify instance, if there is none.
    case regainEvents
    case stop
  }

  private let folders: [DropFolderSettings]
  private let control: ControlFolder
  private let inbox: EventInbox
  private let logger: Logger
  private let thread = BlockingThread("watch")
  /// A set: what is asked for twice is done once.
  private let requests = Mutex<Set<Request>>([])
  /// Made when it runs; it wakes the thread while there is no inotify instance.
  private let bell = Mutex<WakeBell?>(nil)
  private let hasEvents = Atomic<Bool>(false)

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
  ///
  /// The request is there before the way to wake is chosen, and the thread takes requests after it
  /// has changed that way: so none is overlooked.
  func post(_ request: Request) {
    requests.withLock { _ = $0.insert(request) }
    if hasEvents.load(ordering: .sequentiallyConsistent) {
      control.wake()
    } else {
      bell.withLock { $0 }?.ring()
    }
  }

  /// Runs until it is asked to stop.
  ///
  /// Where no inotify instance can be had, all folders are polled until there is one.
  ///
  /// - Throws: where nothing can be watched at all.
  nonisolated(nonsending) func run() async throws {
    try control.prepare()
    let bell = try WakeBell(logger: logger)
    self.bell.withLock { $0 = bell }
    try await thread.run { [self] in
      do {
        try watch(bell)
      } catch let error as SystemError {
        throw WatchError(error)
      }
    }
  }

  private func watch(_ bell: WakeBell) throws(SystemError) {
    let tree = WatchTree(folders: folders, control: control, inbox: inbox, logger: logger)
    tree.watchEverything()
    while true {
      hasEvents.store(tree.tools != nil, ordering: .sequentiallyConsistent)
      // Asked after the control folder is watched: a request either is here by now, or wakes.
      let asked = requests.withLock { requests in
        defer { requests = [] }
        return requests
      }
      if asked.contains(.stop) { return }
      let isCrowded = tree.isCrowded
      guard asked.isEmpty, !isCrowded else {
        // What is asked for meanwhile is looked for before anything is waited for: its wake may have
        // gone to an instance that was given back, or been thrown away with what was left of it.
        handle(asked, tree)
        continue
      }
      if tree.tools == nil { try bell.wait() } else { tree.handleNextEvent() }
    }
  }

  private func handle(_ asked: Set<Request>, _ tree: WatchTree) {
    if asked.contains(.watchEverything) || tree.isCrowded { return tree.watchEverything() }
    if asked.contains(.regainEvents), tree.regainEvents() { return }
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
