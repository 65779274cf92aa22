import HandoffProtocol
package import Paths

/// What is on its way into a package under a temporary name: the package is not whole before it has got its
/// name, has gone, or has not changed for `give_up`.
extension SettleTracker {
  /// The last complete listing of a folder.
  struct Listing: Sendable {
    /// On the tracker's clock.
    let begun: Duration
    /// Only listings tell what comes.
    let isPolled: Bool
  }

  /// Takes in when a listing of a folder began that is complete; before ``sweep(_:)``.
  package mutating func listed(folder: Int, begun: Duration, isPolled: Bool) {
    listings[folder] = Listing(begun: begun, isPolled: isPolled)
  }

  /// Where only listings tell what comes, one has shown the quiet: it began after it.
  func isQuietListed(_ folder: Int, since end: Duration) -> Bool {
    guard let listing = listings[folder], listing.isPolled else { return true }
    return listing.begun >= end
  }

  /// Why nothing in a directory is taken yet: it, or a directory within it, has a temporary name.
  func temporaryDirectory(of path: BytePath, in folder: Int) -> String? {
    let names = folders[folder].rules.names
    guard folders[folder].rules.hasPackages,
      let parts = path.relative(to: folders[folder].path)?.components
    else { return nil }
    for part in parts.dropLast() {
      guard let reason = names.transferReason(for: part) else { continue }
      return "\(part.lossyText) is \(reason); it waits until that is renamed"
    }
    return nil
  }

  // MARK: Files

  /// Marks a newcomer with a temporary name that its package waits for.
  func noteTransfer(
    _ candidate: inout Candidate,
    _ path: BytePath,
    _ observation: CandidateObservation,
    at moment: Moment
  ) {
    guard packageDirectory(of: path, in: candidate.folder) != nil else { return }
    let rules = folders[candidate.folder].rules
    guard rules.names.transferReason(for: path.lastComponent) != nil else { return }
    var wait = rules.giveUp
    if case .listed(let identity) = observation {
      wait = Self.patience(identity, rules, at: moment)
      guard wait > .zero else { return }
    }
    candidate.isTransfer = true
    candidate.wake = moment.elapsed + wait
  }

  /// Takes in what a look at a file with a temporary name found; nil where it could not be taken.
  package mutating func transferSeen(
    _ path: BytePath,
    _ identity: FileIdentity?,
    at moment: Moment
  ) {
    guard let candidate = candidates[path], candidate.isTransfer else { return }
    let rules = folders[candidate.folder].rules
    let wait = identity.map { Self.patience($0, rules, at: moment) } ?? rules.giveUp
    update(path) { candidate in
      candidate.isTransfer = wait > .zero
      candidate.wake = wait > .zero ? moment.elapsed + wait : nil
    }
    if wait <= .zero { packageChanged(path, candidate.folder, .ignored, nil) }
  }

  /// How much longer a file is waited for: nobody can set the inode's change time, and each write renews it.
  private static func patience(_ identity: FileIdentity, _ rules: Rules, at moment: Moment)
    -> Duration
  {
    let age = moment.time.milliseconds - identity.changed / 1_000_000
    return rules.giveUp - .milliseconds(max(0, age))
  }

  /// It may have gone because it has got its name, of which only the next event or listing tells.
  mutating func transferVanished(_ path: BytePath, at time: Duration) {
    guard let candidate = candidates[path], candidate.isTransfer,
      let directory = packageDirectory(of: path, in: candidate.folder)
    else { return }
    packages[directory]?.touch(at: time)
  }
}
