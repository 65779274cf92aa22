import HandoffCore
import Paths
import Synchronization

/// What the watch thread has noticed and the watcher has not yet taken.
///
/// There is one place for each file, so it is bounded by the number of files and nothing is ever
/// dropped: the watcher takes everything at once.
final class EventInbox: Sendable {
  struct Arrival: Sendable {
    let folder: Int
    var observation: CandidateObservation
    var round: UInt32
  }

  struct Contents: Sendable {
    var arrivals: [BytePath: Arrival] = [:]
    /// Directories that were moved away; what has come since below them is in the arrivals.
    var vanishedDirectories: [BytePath] = []
    /// The last complete round of listing of each folder.
    var completedRounds: [Int: UInt32] = [:]
    /// Where the folders stand, if that has changed.
    var statuses: [Int: FolderStatus] = [:]
    /// The folders that were lost since.
    var lostFolders: Set<Int> = []
    var hasOverflowed = false
  }

  private let contents = Mutex(Contents())
  private let onArrival: @Sendable () -> Void

  /// - Parameter onArrival: called after each arrival, on the arriving thread; it must not block.
  init(onArrival: @escaping @Sendable () -> Void) {
    self.onArrival = onArrival
  }

  /// Takes everything.
  func take() -> Contents {
    contents.withLock { contents in
      defer { contents = Contents() }
      return contents
    }
  }

  func put(_ path: BytePath, _ folder: Int, _ observation: CandidateObservation, round: UInt32) {
    change { contents in
      if var known = contents.arrivals[path] {
        known.observation = known.observation.followed(by: observation)
        known.round = round
        contents.arrivals[path] = known
      } else {
        let arrival = Arrival(folder: folder, observation: observation, round: round)
        contents.arrivals[path] = arrival
      }
    }
  }

  func putVanished(directory: BytePath) {
    change { contents in
      contents.arrivals = contents.arrivals.filter { !$0.key.isInside(directory) }
      contents.vanishedDirectories.append(directory)
    }
  }

  func putCompleted(folder: Int, round: UInt32) {
    change { $0.completedRounds[folder] = round }
  }

  func put(_ status: FolderStatus, _ folder: Int) {
    change { $0.statuses[folder] = status }
  }

  func putLost(folder: Int, _ status: FolderStatus) {
    change { contents in
      contents.arrivals = contents.arrivals.filter { $0.value.folder != folder }
      contents.completedRounds.removeValue(forKey: folder)
      contents.lostFolders.insert(folder)
      contents.statuses[folder] = status
    }
  }

  func putOverflow() {
    change { $0.hasOverflowed = true }
  }

  private func change(_ body: (inout Contents) -> Void) {
    contents.withLock { body(&$0) }
    onArrival()
  }
}
