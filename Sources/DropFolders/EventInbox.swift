import HandoffCore
import Paths
import Synchronization

/// What the watch thread has noticed and the watcher has not yet taken.
///
/// There is one place for each file, so it is bounded by the number of files and nothing is ever
/// dropped: the watcher takes everything at once. Directories that vanish are applied when it does, so
/// that a burst of them costs no more than one pass over the files.
final class EventInbox: Sendable {
  struct Arrival: Sendable {
    let folder: Int
    var observation: CandidateObservation
    var round: UInt32
    fileprivate var order: UInt64
  }

  /// A listing of a whole folder that has ended.
  struct Round: Hashable, Sendable {
    let number: UInt32
    /// Places that it could not list: what is below them may still be there.
    var unlisted: Set<BytePath> = []
    let begun: ContinuousClock.Instant
    /// Only listings tell what comes into the folder, or into places in it.
    var isPolled = false
  }

  struct Contents: Sendable {
    var arrivals: [BytePath: Arrival] = [:]
    /// Directories that were moved away; what has come since below them is in the arrivals.
    var vanishedDirectories: Set<BytePath> = []
    /// Directories whose file system is away: what was below them is neither there nor gone.
    var awayDirectories: Set<BytePath> = []
    /// The last round of listing of each folder.
    var completedRounds: [Int: Round] = [:]
    /// Places that could not be listed since the last round of their folder has ended.
    var unlisted: [Int: Set<BytePath>] = [:]
    /// Where the folders stand, if that has changed.
    var statuses: [Int: FolderStatus] = [:]
    /// The folders that were lost since, with the reason.
    var lostFolders: [Int: String] = [:]
    var hasOverflowed = false
  }

  private struct State {
    var contents = Contents()
    /// What is put in has a number, so that it is known what came before a loss.
    var order: UInt64 = 0
    var losses: [BytePath: UInt64] = [:]
    var folderLosses: [Int: UInt64] = [:]
  }

  private let state = Mutex(State())
  private let onArrival: @Sendable () -> Void

  /// - Parameter onArrival: called after each arrival, on the arriving thread; it must not block.
  init(onArrival: @escaping @Sendable () -> Void) {
    self.onArrival = onArrival
  }

  /// Takes everything.
  func take() -> Contents {
    let taken = state.withLock { state in
      defer { state = State(order: state.order) }
      return state
    }
    guard !taken.losses.isEmpty || !taken.folderLosses.isEmpty else { return taken.contents }
    var contents = taken.contents
    contents.arrivals = contents.arrivals.filter { path, arrival in
      if let loss = taken.folderLosses[arrival.folder], arrival.order < loss { return false }
      guard !taken.losses.isEmpty else { return true }
      return !path.selfAndAncestors.contains {
        taken.losses[$0].map { arrival.order < $0 } ?? false
      }
    }
    return contents
  }

  func put(_ path: BytePath, _ folder: Int, _ observation: CandidateObservation, round: UInt32) {
    change { state in
      let order = state.order
      if var known = state.contents.arrivals[path], known.folder == folder {
        known.observation = known.observation.followed(by: observation)
        known.round = round
        known.order = order
        state.contents.arrivals[path] = known
      } else {
        state.contents.arrivals[path] = Arrival(
          folder: folder,
          observation: observation,
          round: round,
          order: order
        )
      }
    }
  }

  func putVanished(directory: BytePath) {
    change { state in
      state.losses[directory] = state.order
      state.contents.vanishedDirectories.insert(directory)
    }
  }

  func putAway(directory: BytePath) {
    change { state in
      state.losses[directory] = state.order
      state.contents.awayDirectories.insert(directory)
    }
  }

  func putCompleted(folder: Int, _ round: Round) {
    change { state in
      state.contents.completedRounds[folder] = round
      state.contents.unlisted.removeValue(forKey: folder)
    }
  }

  /// A place was met outside a round, and could not be listed.
  func putUnlisted(_ path: BytePath, folder: Int) {
    change { $0.contents.unlisted[folder, default: []].insert(path) }
  }

  func put(_ status: FolderStatus, _ folder: Int) {
    change { $0.contents.statuses[folder] = status }
  }

  func putLost(folder: Int, _ status: FolderStatus) {
    change { state in
      state.folderLosses[folder] = state.order
      state.contents.completedRounds.removeValue(forKey: folder)
      state.contents.unlisted.removeValue(forKey: folder)
      state.contents.lostFolders[folder] = status.problem ?? "its root was away"
      state.contents.statuses[folder] = status
    }
  }

  func putOverflow() {
    change { $0.contents.hasOverflowed = true }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      state.order += 1
      body(&state)
    }
    onArrival()
  }
}
