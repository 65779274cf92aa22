package import HandoffCore
package import Paths

/// What others ask.
extension DropFolderWatcher {
  /// Where each folder stands, in the order of the configuration.
  package func folders() -> [FolderReport] {
    let counts = tracker.undecidedCounts
    return settings.indices.map { index in
      let status = statuses[index]
      return FolderReport(
        path: settings[index].path,
        mode: status.mode,
        watches: status.watches,
        candidates: counts[index],
        degraded: status.degraded,
        rescans: rescans[index].count,
        rescanReason: rescans[index].reason,
        listingTime: status.listingTime
      )
    }
  }

  /// Every file that is not imported, by path.
  package func candidates() -> [CandidateReport] {
    tracker.reports
  }

  /// What is known of one file; nil if it is not seen here, or imported and let go of: then the ledger
  /// knows it.
  package func report(for path: BytePath) -> CandidateReport? {
    if let report = tracker.report(for: path) { return report }
    guard let folder = folder(of: path) else { return nil }
    let status = statuses[folder]
    let isAway = path.isInside(anyOf: status.away)
    guard status.mode == .offline || isAway else { return nil }
    let problem = isAway ? status.degraded : status.problem
    return CandidateReport(
      path: path,
      folder: settings[folder].path,
      state: .offline,
      reason: problem ?? "the drop folder is not there"
    )
  }

  /// Looks at a file again at once, whatever was found before; false if it is in no drop folder.
  package func judgeAgain(_ path: BytePath) -> Bool {
    defer {
      tellChanges()
      wake()
    }
    if tracker.judgeAgain(path, at: moment) { return true }
    guard let folder = folder(of: path) else { return false }
    tracker.observe(path, in: folder, .changed(closed: true), round: .max, at: moment)
    return tracker.judgeAgain(path, at: moment)
  }

  /// The deepest folder that holds a path.
  private func folder(of path: BytePath) -> Int? {
    settings.indices
      .filter { path.relative(to: settings[$0].path) != nil }
      .max { settings[$0].path.bytes.count < settings[$1].path.bytes.count }
  }
}
