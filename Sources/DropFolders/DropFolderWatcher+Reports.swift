package import HandoffCore
package import LinuxSystem
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

  /// What is known of one file, with who writes to it now.
  package func explained(_ path: BytePath) async -> CandidateReport? {
    guard let report = report(for: path) else { return nil }
    return await naming([report]).first
  }

  /// Files that are not imported, by path, with who writes to them now: at most as many as asked for,
  /// whose paths come after one; and whether they are the last.
  package func explainedCandidates(
    after path: BytePath?,
    limit: Int
  ) async -> (page: [CandidateReport], isLast: Bool) {
    let found = tracker.reports(after: path, limit: limit)
    return (await naming(found.page), found.isLast)
  }

  /// How many files that are not imported are in each state.
  package var stateCounts: [CandidateState: Int] { tracker.stateCounts }

  private func naming(_ reports: [CandidateReport]) async -> [CandidateReport] {
    let open = reports.filter { $0.state == .openForWriting }.map(\.path)
    let sentences = await writerSearch.sentences(for: open)
    return reports.map { report in
      guard report.state == .openForWriting, let sentence = sentences[report.path] else {
        return report
      }
      var report = report
      report.reason = sentence
      for index in report.evidence.indices where report.evidence[index].check == .noWriter {
        report.evidence[index].detail = sentence
      }
      return report
    }
  }

  /// What became of the wish to have a file judged again.
  package enum JudgedAgain: Sendable {
    /// It is looked at now.
    case begun(CandidateReport)
    /// Its name says that it is no export, and no look changes that.
    case misnamed(CandidateReport)
    case missing
    /// It lies in no drop folder.
    case outside
    /// Its drop folder is away.
    case offline(String)
  }

  /// Looks at a file again at once, whatever was found before.
  ///
  /// It is also a person's word that a file which was there before its folder was seen is wanted.
  package func judgeAgain(_ path: BytePath) async throws(SystemError) -> JudgedAgain {
    guard let folder = folder(of: path) else { return .outside }
    if statuses[folder].mode == .offline {
      return .offline(statuses[folder].problem ?? "the drop folder is not there")
    }
    let status = try await examiner.status(of: path, beneath: settings[folder].path)
    guard let status else { return .missing }
    defer {
      tellChanges()
      wake()
    }
    if !tracker.judgeAgain(path, at: moment) {
      // A directory that is no package is nothing that could be judged.
      guard status.kind != .directory else { return .missing }
      tracker.observe(path, in: folder, .attributes, round: .max, at: moment)
      _ = tracker.judgeAgain(path, at: moment)
    }
    guard let report = tracker.report(for: path) else { return .missing }
    let isMisnamed = report.evidence.contains { $0.check == .name && !$0.passed }
    return isMisnamed ? .misnamed(report) : .begun(report)
  }

  /// The deepest folder that holds a path; nil for one that is not plain, since its text would tell
  /// nothing of where it leads.
  private func folder(of path: BytePath) -> Int? {
    path.isPlain ? settings.deepestIndex(holding: path) : nil
  }
}
