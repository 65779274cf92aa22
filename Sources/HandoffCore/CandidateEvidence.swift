import HandoffProtocol
package import Paths

extension Candidate {
  /// The checks that come before the one that decides.
  func checks(readable problem: String? = nil) -> [Evidence] {
    let name = Evidence(.name, passed: true, "the name may be an export's", since: lastEventTime)
    let habit = patience.map { ", longer than usual: \($0.title) opens its files again" } ?? ""
    let quiet = Evidence(.quiet, passed: true, "no event since then\(habit)", since: lastEventTime)
    let readable =
      problem.map { Evidence(.readable, passed: false, $0) }
      ?? Evidence(.readable, passed: true, "a regular file that can be read")
    return [name, quiet, readable]
  }

  func writerEvidence(_ proof: CandidateFinding.WriterProof) -> Evidence {
    switch proof {
    case .lease:
      Evidence(.noWriter, passed: true, "a read lease was granted: nobody can write to it")
    case .looks(let reason):
      Evidence(.noWriter, passed: true, "no lease can be had (\(reason)): equal looks stand in")
    }
  }

  /// The evidence as it is now.
  var presentEvidence: [Evidence] {
    switch stage {
    case .misnamed(let reason):
      [Evidence(.name, passed: false, reason, since: since)]
    case .quiet:
      [
        Evidence(.name, passed: true, "the name may be an export's", since: lastEventTime),
        Evidence(.quiet, passed: false, "something happened to it", since: lastEventTime),
      ]
    case .examining, .openForWriting, .unreadable, .incomplete, .confirming, .unprobed, .importing,
      .postponed, .irregular, .refused:
      evidence
    }
  }
}

extension SettleTracker {
  /// How many files are tracked and not yet decided, in each folder.
  package var undecidedCounts: [Int] {
    var counts = Array(repeating: 0, count: folders.count)
    for candidate in candidates.values where candidate.shown?.state.isDecided != true {
      counts[candidate.folder] += 1
    }
    return counts
  }

  /// What is known of one file; nil if it is not tracked: never seen, gone, or imported.
  package func report(for path: BytePath) -> CandidateReport? {
    candidates[path].map { report(path, $0) } ?? packageReport(for: path)
  }

  /// What is known of every tracked file, by path.
  package var reports: [CandidateReport] {
    (candidates.map { report($0.key, $0.value) } + packageReports).sorted { $0.path < $1.path }
  }

  private func report(_ path: BytePath, _ candidate: Candidate) -> CandidateReport {
    // During a look the last state stands.
    var (state, reason) =
      candidate.shown ?? (candidate.announced ?? .waitingQuiet, candidate.announcedReason)
    if state == .waitingPackage {
      reason = packageReason(for: path, in: candidate.folder) ?? reason
    }
    return CandidateReport(
      path: path,
      folder: folders[candidate.folder].path,
      state: state,
      reason: reason,
      evidence: candidate.presentEvidence
    )
  }
}
