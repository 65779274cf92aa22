/// Where one file in a drop folder stands on its way to an asset: the `state` of `handoff why`.
package enum CandidateState: String, Hashable, Sendable, Codable, CaseIterable {
  /// Something happened to it less than the quiet period ago, or a longer quiet is needed.
  case waitingQuiet = "waiting_quiet"
  /// The kernel refused the read lease: some process can still write to it.
  case openForWriting = "open_for_writing"
  /// Something is missing that a finished export has.
  case incomplete
  /// What the folder's `proof` asks for is not there yet.
  case waitingProof = "waiting_proof"
  case waitingSidecar = "waiting_sidecar"
  case waitingPackage = "waiting_package"
  case importing
  case noSpace = "no_space"
  /// It cannot be opened.
  case unreadable
  /// No export by its name or kind, or one that was there before and is not wanted.
  case ignored
  /// Looked at and turned down with a reason; judged again when it changes.
  case refused
  case imported
  /// The drop folder itself is away.
  case offline
  /// Not in any drop folder, or not seen there.
  case unknown

  /// Nothing more happens to it until somebody changes it.
  package var isDecided: Bool {
    switch self {
    case .ignored, .refused, .imported: true
    case .waitingQuiet, .openForWriting, .incomplete, .waitingProof, .waitingSidecar,
      .waitingPackage, .importing, .noSpace, .unreadable, .offline, .unknown:
      false
    }
  }
}
