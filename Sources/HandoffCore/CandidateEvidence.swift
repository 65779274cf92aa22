import HandoffProtocol
package import Paths

extension Candidate {
  /// The checks that come before the one that decides.
  func checks(readable problem: String? = nil) -> [Evidence] {
    let readable =
      problem.map { Evidence(.readable, passed: false, $0) }
      ?? Evidence(.readable, passed: true, "a regular file that can be read")
    return firstChecks(isQuiet: true) + [readable]
  }

  /// The checks that need no look.
  private func firstChecks(isQuiet: Bool) -> [Evidence] {
    let name = Evidence(.name, passed: true, "the name may be an export's", since: seenAt)
    let habit = patience.map { ", longer than usual: \($0.title) opens its files again" } ?? ""
    let detail =
      isQuiet
      ? "no event since then\(habit)"
      : "something happened to it"
        + (until.map { ": quiet until \($0.rfc3339) is waited for" } ?? "")
    return [name, Evidence(.quiet, passed: isQuiet, detail, since: lastEventTime)]
  }

  func writerEvidence(_ proof: CandidateFinding.WriterProof) -> Evidence {
    switch proof {
    case .lease:
      Evidence(.noWriter, passed: true, "a read lease was granted: nobody can write to it")
    case .looks(let reason):
      Evidence(.noWriter, passed: true, "no lease can be had (\(reason)): equal looks stand in")
    }
  }

  /// The evidence as it is now: what was found, then what is still to be checked by the rules.
  func presentEvidence(_ rules: SettleTracker.Rules?) -> [Evidence] {
    let found: [Evidence]
    switch stage {
    case .misnamed(let reason):
      return [Evidence(.name, passed: false, reason, since: since)]
    case .existing:
      return [Evidence(.arrival, passed: false, Self.existingReason, since: since)]
    case .irregular:
      return evidence
    case .quiet:
      found = firstChecks(isQuiet: false)
    case .examining, .openForWriting, .unreadable, .incomplete, .confirming, .unprobed, .importing,
      .postponed, .unproven, .refused:
      // Before the end of the first look there is only what needs none.
      found = evidence.contains { $0.check == .name } ? evidence : firstChecks(isQuiet: true)
    }
    return found + (rules.map { pendingChecks(after: found, $0) } ?? [])
  }

  private func pendingChecks(after found: [Evidence], _ rules: SettleTracker.Rules) -> [Evidence] {
    let made = Set(found.map(\.check))
    var open: [Evidence.Check] = [.readable, .noWriter]
    if made.isDisjoint(with: ProbeVerdict.containerChecks + [.probe]) {
      open += ProbeVerdict.containerChecks
    }
    if rules.proof != .auto { open.append(.proof) }
    if rules.sidecarWait > .zero { open.append(.sidecar) }
    return open.filter { !made.contains($0) }.map { .pending($0, since: lastEventTime) }
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
    candidates[path].map { report(path, $0, withPending: true) } ?? packageReport(for: path)
  }

  /// What is known of every tracked file, by path; without the checks that are still to be made, since
  /// there may be very many files.
  package var reports: [CandidateReport] { reports(after: nil, limit: .max).page }

  /// The first reports whose paths come after one, and whether more follow.
  ///
  /// Takes time in the number of all files, but makes only the reports that are asked for.
  package func reports(
    after path: BytePath?,
    limit: Int
  ) -> (page: [CandidateReport], isLast: Bool) {
    let packages = packageReports
    let paths = (Array(candidates.keys) + packages.map(\.path))
      .filter { candidate in path.map { candidate > $0 } ?? true }
      .sorted()
    let wanted = Set(paths.prefix(limit))
    let page =
      paths.prefix(limit).compactMap { path in
        candidates[path].map { report(path, $0, withPending: false) }
      } + packages.filter { wanted.contains($0.path) }
    return (page.sorted { $0.path < $1.path }, paths.count <= limit)
  }

  /// How many files are in each state.
  package var stateCounts: [CandidateState: Int] {
    var counts: [CandidateState: Int] = [:]
    for candidate in candidates.values {
      counts[candidate.presented.state, default: 0] += 1
    }
    return counts
  }

  private func report(
    _ path: BytePath,
    _ candidate: Candidate,
    withPending: Bool
  ) -> CandidateReport {
    var (state, reason) = candidate.presented
    if state == .waitingPackage {
      reason = packageReason(for: path, in: candidate.folder) ?? reason
    }
    return CandidateReport(
      path: path,
      folder: folders[candidate.folder].path,
      state: state,
      reason: reason,
      until: candidate.until,
      evidence: candidate.presentEvidence(withPending ? folders[candidate.folder].rules : nil)
    )
  }
}
