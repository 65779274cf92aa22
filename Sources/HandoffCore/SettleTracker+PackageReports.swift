import Paths

extension SettleTracker {
  /// What is known of a package; nil if the path is none.
  func packageReport(for path: BytePath) -> CandidateReport? {
    guard isPackage(path), let package = packages[path] else { return nil }
    let (state, reason) = shown(path, package)
    let missing = package.unready.count
    let counts =
      "\(package.imported.count) imported, \(package.ready.count) finished, \(missing) not finished"
    let evidence = [
      Evidence(.name, passed: true, "a directory whose exports are one request"),
      Evidence(.package, passed: missing == 0, counts),
    ]
    return CandidateReport(
      path: path,
      folder: folders[package.folder].path,
      state: state,
      reason: reason,
      evidence: evidence
    )
  }

  /// The packages that have no request yet.
  var packageReports: [CandidateReport] {
    packages.keys.compactMap { path in
      let report = packageReport(for: path)
      return report?.state == .imported ? nil : report
    }
  }

  /// Why a finished member waits, as it is now; nil if nothing is missing.
  func packageReason(for member: BytePath, in folder: Int) -> String? {
    guard let directory = packageDirectory(of: member, in: folder),
      let package = packages[directory]
    else { return nil }
    return missing(directory, package)
  }

  private func shown(_ path: BytePath, _ package: Package) -> (CandidateState, String?) {
    switch package.stage {
    case .held(let state, let reason): (state, reason)
    case .refused(let reason, _): (.refused, reason)
    case .recorded(_, let reason) where package.isWhole: (.imported, reason)
    case .recording: (.importing, nil)
    case .gathering, .recorded: (.waitingPackage, missing(path, package))
    }
  }

  private func missing(_ directory: BytePath, _ package: Package) -> String? {
    guard let first = package.unready.min(), let candidate = candidates[first] else {
      let isListed = isListed(directory, in: package.folder)
      return isListed ? nil : "not everything in \(directory.lastComponent) could be listed yet"
    }
    let name = first.relative(to: directory) ?? first.lastComponent
    let shown = candidate.presented
    let state = candidate.isTransfer ? "not complete" : shown.state.rawValue
    let others = package.unready.count > 1 ? ", and \(package.unready.count - 1) more" : ""
    let reason = shown.reason.map { " (\($0))" } ?? ""
    return
      "waits for the rest of the package \(directory.lastComponent): \(name) is \(state)\(reason)"
      + others
  }
}
