package import Paths

/// What stays when the set of drop folders changes while the broker runs.
extension SettleTracker {
  /// Takes over what another tracker knows of folders that are watched as before, so that what settles
  /// there goes on settling and what was imported is not looked at again.
  ///
  /// Their next listing decides, as any other: what it does not find is gone. Packages begin anew from
  /// it, since the ledger records each of them once.
  ///
  /// - Parameters:
  ///   - other: nothing that it began is under way any more.
  ///   - place: the place here of a path that lies in one of the other's folders, given with that folder's
  ///     place there; nil where it is another folder's now.
  ///   - folder: the place here of one of the other's folders; nil where it is not watched as before.
  package mutating func carryOver(
    from other: SettleTracker,
    place: (BytePath, Int) -> Int?,
    folder: (Int) -> Int?
  ) {
    for (path, candidate) in other.candidates where !candidate.isInFlight && !candidate.isGone {
      guard !other.folders[candidate.folder].rules.hasPackages,
        let place = place(path, candidate.folder)
      else { continue }
      var candidate = candidate
      candidate.folder = place
      candidate.round = 0
      candidate.queued = nil
      candidates[path] = candidate
      update(path) { _ in }
    }
    for (key, imported) in other.remembered {
      guard !other.folders[imported.folder].rules.hasPackages, let place = folder(imported.folder)
      else { continue }
      remembered[key] = Remembered(
        fingerprint: imported.fingerprint,
        folder: place,
        round: 0,
        importedAt: imported.importedAt
      )
    }
    scratchNames = other.scratchNames
  }
}
