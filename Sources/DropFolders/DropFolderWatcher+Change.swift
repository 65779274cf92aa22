package import HandoffCore
package import HandoffProtocol
package import Paths

/// Other drop folders while it runs.
extension DropFolderWatcher {
  /// Goes on with other drop folders, while it runs.
  ///
  /// Where only routes and policies differ, nothing is watched anew. Else what is being looked at or
  /// imported is waited for, everything is watched and listed as at the start, and what settles in a
  /// folder that is watched as before goes on settling.
  ///
  /// - Parameters:
  ///   - folders: all of them.
  ///   - firstSeen: when each was seen for the first time, by its path.
  package func change(
    to folders: [DropFolderSettings],
    firstSeen: [BytePath: Timestamp]
  ) async {
    if folders.map(\.watchingAlone) == settings.map(\.watchingAlone) {
      settings = folders
      return
    }
    guard !isOver else { return }
    next = (folders, firstSeen)
    waker.finish()
    await withCheckedContinuation { waitingForChange.append($0) }
  }

  /// Takes the folders that were asked for; false where none were, or it is to end.
  func goOn() -> Bool {
    guard let (folders, firstSeen) = next, !Task.isCancelled else { return false }
    next = nil
    let (before, known) = (settings, tracker)
    settings = folders
    (wakes, waker) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    inbox = EventInbox { [waker] in waker.yield() }
    thread = WatchThread(
      folders: folders,
      control: ControlFolder(control, logger: logger),
      inbox: inbox,
      logger: logger
    )
    tracker = SettleTracker(folders, firstSeen: firstSeen)
    let places = before.map { folder in
      folders.firstIndex { $0.watchingAlone == folder.watchingAlone }
    }
    tracker.carryOver(
      from: known,
      place: { path, folder in
        places[folder].flatMap { folders.deepestIndex(holding: path) == $0 ? $0 : nil }
      },
      folder: { places[$0] }
    )
    let counted = rescans
    rescans = folders.indices.map { index in
      places.firstIndex(of: index).map { counted[$0] } ?? RescanCount()
    }
    statuses = folders.map { _ in FolderStatus(mode: .offline) }
    schedule = RescanSchedule(pollIntervals: folders.map(\.pollInterval), at: moment.elapsed)
    sleepers = []
    listed = []
    hasEnded = false
    changeHasEnded()
    return true
  }

  func changeHasEnded() {
    let waiting = waitingForChange
    waitingForChange = []
    for continuation in waiting { continuation.resume() }
  }
}
