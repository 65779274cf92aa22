import HandoffProtocol
package import Paths

/// `package = true`: a directory that arrives directly in the folder is one unit.
///
/// Its members are imported once each of them is proven finished and nothing in it has changed for the
/// quiet period; when the last is imported the whole is told to the ledger.
extension SettleTracker {
  /// The packages whose members are all imported, each once for each set of identifiers.
  package mutating func takePackages() -> [PackageArrival] {
    defer { arrivedPackages = [] }
    return arrivedPackages
  }

  /// Takes in how recording a package ended.
  package mutating func packaged(
    _ path: BytePath,
    _ outcome: PackageOutcome,
    at moment: Moment
  ) {
    guard let package = packages[path], case .recording(let identifiers) = package.stage else {
      return
    }
    switch outcome {
    case .recorded:
      packages[path]?.stage = .recorded(identifiers, Self.packageIsRecorded)
      tell(path, package.folder, .imported, Self.packageIsRecorded)
    case .recordedApart(let reason):
      packages[path]?.stage = .recorded(identifiers, reason)
      tell(path, package.folder, .imported, reason)
    case .refused(let reason):
      packages[path]?.stage = .refused(reason, identifiers)
      tell(path, package.folder, .refused, reason)
    case .held(let reason, let state, let limit):
      packages[path]?.stage = .held(state, reason)
      tell(path, package.folder, state, reason)
      if let limit { heap.add(path, at: moment.elapsed + limit) }
      return
    }
    // It may have changed meanwhile.
    heap.add(path, at: moment.elapsed)
  }

  static let packageIsRecorded = "its exports are one request"

  /// A directory of this path is a package.
  func isPackage(_ path: BytePath) -> Bool {
    packages[path] != nil && candidates[path] == nil
  }

  /// The package that a file belongs to; nil where it lies directly in its folder.
  func packageDirectory(of path: BytePath, in folder: Int) -> BytePath? {
    guard folders[folder].rules.hasPackages else { return nil }
    return path.packageDirectory(in: folders[folder].path)
  }

  // MARK: Members

  /// What holds a finished member until all of them are.
  func packageHold(_ path: BytePath, _ candidate: Candidate, at moment: Moment) -> UnitHold? {
    guard let directory = packageDirectory(of: path, in: candidate.folder),
      let package = packages[directory]
    else { return nil }
    if let reason = temporaryDirectory(of: path, in: candidate.folder) {
      let evidence = Evidence(.package, passed: false, reason)
      return UnitHold(state: .incomplete, reason: reason, evidence: evidence)
    }
    let end = max(package.lastChange, candidate.lastEvent) + packageQuiet(candidate.folder)
    let isAlone = package.unready.allSatisfy { $0 == path }
    let mayEnd =
      isAlone && isListed(directory, in: candidate.folder)
      && isQuietListed(candidate.folder, since: end)
    if mayEnd, end <= moment.elapsed { return nil }
    let reason = "waits for the rest of the package \(directory.lastComponent)"
    return UnitHold(
      state: .waitingPackage,
      reason: reason,
      wake: mayEnd ? end : nil,
      evidence: Evidence(.package, passed: false, reason)
    )
  }

  /// Everything in it was seen: its folder was listed, and nothing in it or around it could not be.
  func isListed(_ directory: BytePath, in folder: Int) -> Bool {
    listedFolders[folder]?.allSatisfy { place in
      !place.isInside(directory) && !directory.isInside(place)
    } ?? false
  }

  private func packageQuiet(_ folder: Int) -> Duration {
    max(folders[folder].rules.quiet, folders[folder].rules.unclosedQuiet)
  }

  mutating func packageChanged(
    _ path: BytePath,
    _ folder: Int,
    _ state: CandidateState,
    _ identifier: LocalIdentifier?
  ) {
    guard let directory = packageDirectory(of: path, in: folder) else { return }
    let isTransfer = state == .ignored && candidates[path]?.isTransfer == true
    let state = isTransfer ? .incomplete : state
    if packages[directory] == nil, [.ignored, .unknown].contains(state) { return }
    let wasHeld = packages[directory]?.unready.isEmpty == false
    packages[directory, default: Package(folder: folder)].note(
      path,
      state,
      identifier,
      lastEvent: candidates[path]?.lastEvent,
      cameByRename: cameByRename(path)
    )
    dropPackageIfEmpty(directory)
    if wasHeld || state == .imported || state == .unknown { goOn(directory, opening: wasHeld) }
  }

  /// Goes on with a package of which no member is missing.
  ///
  /// - Parameters:
  ///   - directory: the package.
  ///   - isOpening: its finished members have waited for one that is finished now.
  private mutating func goOn(_ directory: BytePath, opening isOpening: Bool) {
    guard let package = packages[directory], package.unready.isEmpty,
      isListed(directory, in: package.folder)
    else { return }
    let end = package.lastChange + packageQuiet(package.folder)
    guard isQuietListed(package.folder, since: end) else { return }
    if isOpening {
      for member in package.ready {
        update(member) { candidate in
          guard case .postponed(.waitingPackage, _) = candidate.stage else { return }
          candidate.wake = end
        }
      }
    }
    if package.isWhole { heap.add(directory, at: end) }
  }

  // MARK: The whole

  /// A package is due: the ledger is to be told if nothing is missing and nothing has changed.
  mutating func settlePackage(_ path: BytePath, at moment: Moment) {
    guard let package = packages[path], package.isWhole, isListed(path, in: package.folder),
      folders[package.folder].rules.names.transferReason(for: path.lastComponent) == nil
    else { return }
    let end = package.lastChange + packageQuiet(package.folder)
    guard isQuietListed(package.folder, since: end) else { return }
    guard end <= moment.elapsed else { return heap.add(path, at: end) }
    let identifiers = Set(package.imported.values)
    switch package.stage {
    case .recording: return
    case .recorded(let done, _), .refused(_, let done): if done == identifiers { return }
    case .gathering, .held: break
    }
    packages[path]?.stage = .recording(identifiers)
    let members = package.imported.sorted { $0.key < $1.key }
      .map { path, identifier in
        PackageArrival.Member(
          path: path,
          localIdentifier: identifier,
          cameByRename: package.renamed.contains(path)
        )
      }
    arrivedPackages.append(
      PackageArrival(
        path: path,
        folder: package.folder,
        members: members,
        quiet: moment.elapsed - package.lastChange
      )
    )
  }

  /// The sidecar of a package has come or changed.
  mutating func reconsiderPackage(_ path: BytePath) {
    guard let package = packages[path], case .held = package.stage else { return }
    heap.add(path, at: .zero)
  }

  /// A folder was listed completely: only now is it known that no member is missing.
  mutating func reconsiderPackages(of folder: Int) {
    for (path, package) in packages where package.folder == folder { goOn(path, opening: true) }
  }

  /// Places were met, outside a listing of the whole folder, that cannot be listed: packages around them wait
  /// for the next one.
  package mutating func couldNotList(_ places: Set<BytePath>, in folder: Int) {
    listedFolders[folder]?.formUnion(places)
  }

  /// Judges a package's refused members again, and the whole.
  mutating func judgePackageAgain(_ path: BytePath, at moment: Moment) -> Bool {
    guard let package = packages[path] else { return false }
    if case .recording = package.stage { return true }
    packages[path]?.stage = .gathering
    for member in package.unready { _ = judgeAgain(member, at: moment) }
    heap.add(path, at: .zero)
    return true
  }

  // MARK: What is gone

  /// An imported member may have been removed: it no longer belongs to the package.
  mutating func forgetImported(_ path: BytePath) {
    guard !packages.isEmpty else { return }
    for folder in folders.indices {
      guard let directory = packageDirectory(of: path, in: folder) else { continue }
      packages[directory]?.forget(path)
      dropPackageIfEmpty(directory)
    }
  }

  private mutating func dropPackageIfEmpty(_ directory: BytePath) {
    guard let package = packages[directory], package.isEmpty else { return }
    packages.removeValue(forKey: directory)
    switch package.stage {
    case .held, .refused: tell(directory, package.folder, .unknown, "the package is gone")
    case .gathering, .recording, .recorded: return
    }
  }

  /// The imported members of a folder's packages, or of all.
  func importedMembers(of folder: Int? = nil) -> [BytePath] {
    packages.values.filter { folder == nil || $0.folder == folder }.flatMap(\.imported.keys)
  }
}

extension BytePath {
  /// The directory directly in a folder that holds this path; nil where the path lies directly in the
  /// folder, or not in it.
  package func packageDirectory(in folder: BytePath) -> BytePath? {
    guard let parts = relative(to: folder)?.components, parts.count > 1, let first = parts.first
    else { return nil }
    return folder.appending(first)
  }
}
