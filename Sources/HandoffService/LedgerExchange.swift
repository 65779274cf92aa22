import AssetLibrary
import HandoffProtocol
import Ledger
import LinuxSystem
import Paths

/// Puts the ledger that was made in the state folder's ``StateFolder/rebuilding`` in the place of the one that
/// is there or is lost, and tells the library.
struct LedgerExchange: Sendable {
  let state: StateFolder
  let library: AssetLibrary
  /// Where the file calls are made.
  let files: BlockingThread

  /// Carries it out; a killed one is begun again by the next.
  ///
  /// - Parameters:
  ///   - end: where the new ledger ends.
  ///   - moment: names the folder that gets what was there.
  /// - Returns: that folder; nil where nothing was there.
  /// - Throws: ``SystemError``, ``LibraryError``.
  func run(end: LedgerPosition, at moment: Timestamp) async throws -> BytePath? {
    let aside = state.path.appending("ledger-before-\(moment.milliseconds)")
    let replacement = LedgerReplacement(
      directory: state.path,
      staged: state.rebuilding,
      former: aside
    )
    try await files.run { try replacement.begin() }
    // Not before: a former ledger that is an old copy is refused by this mark alone; see LedgerMarking.
    try await library.setLedgerMark(LedgerMark(event: end.event, code: end.code))
    let hadFormer = try await files.run { try replacement.finish() }
    try await files.run { [state] in try Directory.removeTree(state.rebuilding) }
    return hadFormer ? aside : nil
  }
}
