import HandoffProtocol
import Paths

/// What a change of a candidate means for those who are told of troubles.
extension CandidateChange {
  /// How long an export may fail before it is told: what passes sooner needs nobody.
  package static let patience: Duration = .seconds(60)

  /// What the change says of the export's trouble.
  package enum Meaning: Hashable, Sendable {
    /// Turned down for good.
    case refused
    case suffers(Trouble)
    /// It is on its way, done, or gone.
    case well
    /// Nothing: the next try begins.
    case unchanged
  }

  /// - Parameters:
  ///   - sidecarWait: how long the folder lets an export wait for its sidecar.
  ///   - giveUp: how long it lets one wait for what it lacks.
  /// - Returns: what to tell, if it lasts.
  package func meaning(sidecarWait: Duration, giveUp: Duration) -> Meaning {
    switch state {
    case .refused: .refused
    case .noSpace: suffers(.lowSpace, "low_space", patience: .zero)
    case .importing:
      // With a reason it is an import that has failed and waits for its next try. The cause lies with
      // the library or the ledger, so those who fail for the same reason are told of together.
      reason.map { suffers(.failedImport, "failed_import:\($0)", patience: Self.patience) }
        ?? .unchanged
    case .unreadable:
      suffers(.failedImport, "failed_import:\(exactPath)", patience: Self.patience)
    case .waitingSidecar:
      suffers(.failedImport, "failed_import:\(exactPath)", patience: sidecarWait + Self.patience)
    case .waitingProof:
      // A marker that does not come, or a checksum that does not agree: it is never refused for that.
      suffers(.failedImport, "failed_import:\(exactPath)", patience: giveUp)
    case .waitingQuiet, .openForWriting, .incomplete, .waitingPackage, .ignored, .imported,
      .offline,
      .unknown:
      .well
    }
  }

  /// A text that no other path has.
  private var exactPath: String { path.exactText ?? path.base64UnlessText ?? "" }

  private func suffers(
    _ kind: Notice.Kind,
    _ condition: String,
    patience: Duration
  ) -> Meaning {
    let subject = Trouble.Subject.export(path, folder: folder)
    let reason = reason ?? state.rawValue
    return .suffers(
      Trouble(subject, kind, condition: condition, reason: reason, patience: patience)
    )
  }
}
