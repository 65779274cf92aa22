package import HandoffProtocol
package import Paths

/// What a look at a candidate found.
package enum CandidateFinding: Hashable, Sendable {
  /// Nothing is there under this name.
  case gone
  /// A symbolic link, FIFO, socket or device: never an export.
  case irregular(String)
  /// It cannot be opened; the text names owner and cause.
  case unreadable(String)
  /// The lease was refused, or somebody else's lease stands in the way.
  case openForWriting(String)
  /// The ledger has this file with this content already.
  case known(LocalIdentifier, FileIdentity)
  /// An export of the same stem that is preferred was imported after this one was finished.
  case outdone(by: BytePath, FileIdentity)
  /// It was there before its folder was first seen, and the ledger does not have it: left alone.
  case existing
  /// It was probed (an empty file counts as an incomplete one).
  case judged(ProbeVerdict, FileIdentity, WriterProof, ProofFinding = .notAsked)

  /// How it is known that nobody still writes.
  package enum WriterProof: Hashable, Sendable {
    /// A read lease was granted.
    case lease
    /// No lease can be had here, for this reason: equal looks have to do.
    case looks(String)
  }
}

/// What follows from a finding.
package enum CandidateStep: Hashable, Sendable {
  /// Proven finished: import it now, with the descriptor and lease of the look.
  case importNow
  /// Let go of it; the tracker knows when to look again.
  case wait
}

/// How an import ended.
package enum ImportOutcome: Hashable, Sendable {
  /// The library has it.
  case imported(LocalIdentifier)
  /// It was written to during the import, which was given up: judge it again.
  case changed
  /// It failed, and nothing was done to the original.
  ///
  /// - Parameters:
  ///   - state: what `handoff why` shows meanwhile, for example ``CandidateState/noSpace``.
  ///   - mayPass: the same attempt may succeed later; otherwise the export is refused.
  case failed(reason: String, state: CandidateState, mayPass: Bool)
  /// Something else has to come first, for example its sidecar: judged again when that changes, and
  /// after the given time.
  case held(reason: String, state: CandidateState, upTo: Duration?)
}
